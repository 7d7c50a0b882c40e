import { CODE_SCRIPT } from './code_script.ts'

/**
 * The only script of the docs: theme switch, instant search results, tabs and copy buttons. Without
 * JavaScript the search form opens a results page, and all examples are shown.
 */
export const DOCS_SCRIPT = `'use strict'
${CODE_SCRIPT}
const KEY = 'florin_theme'
const root = document.documentElement
const themes = ['system', 'light', 'dark']
const chosen = () => {
  try {
    return themes.includes(localStorage.getItem(KEY)) ? localStorage.getItem(KEY) : 'system'
  } catch {
    return 'system'
  }
}
const apply = (theme) => {
  if (theme === 'system') delete root.dataset.theme
  else root.dataset.theme = theme
}
apply(chosen())

document.addEventListener('DOMContentLoaded', () => {
  makeTabs()
  addCopyButtons()
  const button = document.querySelector('button.theme')
  const label = () => {
    button.textContent = 'Theme: ' + chosen()
  }
  button.hidden = false
  label()
  button.addEventListener('click', () => {
    const next = themes[(themes.indexOf(chosen()) + 1) % themes.length]
    try {
      localStorage.setItem(KEY, next)
    } catch {}
    apply(next)
    label()
  })

  const wide = matchMedia('(min-width: 64rem)')
  const side = document.querySelector('.side details')
  const unfold = () => {
    side.open = wide.matches
  }
  unfold()
  wide.addEventListener('change', unfold)
  const pages = document.querySelector('.side')
  const current = pages.querySelector('[aria-current=page]')
  if (current !== null) pages.scrollTop = current.offsetTop - pages.clientHeight / 2

  const input = document.querySelector('.search input')
  const list = document.querySelector('.found')
  let at = -1
  let latest_request = 0
  const rows = () => [...list.querySelectorAll('[role=option]')]
  const close = () => {
    list.hidden = true
    at = -1
    input.setAttribute('aria-expanded', 'false')
    input.removeAttribute('aria-activedescendant')
  }
  const mark = (next) => {
    const all = rows()
    if (all.length === 0) return
    at = (next + all.length) % all.length
    all.forEach((row, index) => row.setAttribute('aria-selected', String(index === at)))
    all[at].scrollIntoView({ block: 'nearest' })
    input.setAttribute('aria-activedescendant', all[at].id)
  }
  const show = (results) => {
    list.replaceChildren(
      ...results.map(({ title, kind, page, href, excerpt }, index) => {
        const row = document.createElement('li')
        row.id = 'result-' + index
        row.setAttribute('role', 'option')
        row.setAttribute('aria-selected', 'false')
        const link = document.createElement('a')
        link.href = href
        link.tabIndex = -1
        link.textContent = title
        const location = document.createElement('small')
        location.textContent = kind + ' · ' + page
        link.append(location)
        const words = document.createElement('span')
        for (const { text, is_match } of excerpt) {
          const part = document.createElement(is_match ? 'mark' : 'span')
          part.textContent = text
          words.append(part)
        }
        if (excerpt.length > 0) link.append(words)
        row.append(link)
        return row
      }),
    )
    if (results.length === 0) return close()
    list.hidden = false
    input.setAttribute('aria-expanded', 'true')
    at = -1
  }
  const search = async () => {
    const request = ++latest_request
    const query = input.value.trim()
    if (query === '') return close()
    const response = await fetch('/docs/search.json?q=' + encodeURIComponent(query))
    const results = response.ok ? await response.json() : []
    if (request === latest_request) show(results)
  }
  input.addEventListener('input', () => void search().catch(close))
  input.addEventListener('keydown', (key) => {
    if (key.key === 'Escape') close()
    if (list.hidden || !['ArrowDown', 'ArrowUp', 'Enter'].includes(key.key)) return
    if (key.key === 'ArrowDown') mark(at + 1)
    if (key.key === 'ArrowUp') mark(at - 1)
    if (key.key === 'Enter' && at < 0) return
    if (key.key === 'Enter') rows()[at].querySelector('a').click()
    key.preventDefault()
  })
  document.addEventListener('click', ({ target }) => {
    if (!target.closest('.search') || target.closest('.found')) close()
  })
  document.addEventListener('keydown', (key) => {
    const isTyping = key.target.closest('input, textarea, select, [contenteditable]')
    if (key.key !== '/' || isTyping || key.ctrlKey || key.metaKey || key.altKey) return
    key.preventDefault()
    input.focus()
    input.select()
  })
})
`
