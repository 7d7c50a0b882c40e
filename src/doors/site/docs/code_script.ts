/** Tabs remember the reader's language on all pages; the copy button says that it worked. */
export const CODE_SCRIPT = `
const LANGUAGE = 'florin_language'
const makeTabs = () => {
  const groups = [...document.querySelectorAll('.examples')].map((group) => {
    const figures = [...group.querySelectorAll('figure')]
    const tabs = document.createElement('div')
    tabs.className = 'tabs'
    tabs.setAttribute('role', 'tablist')
    tabs.setAttribute('aria-label', 'Language')
    const buttons = figures.map((figure) => {
      const button = document.createElement('button')
      button.type = 'button'
      button.setAttribute('role', 'tab')
      button.textContent = figure.querySelector('figcaption').textContent
      figure.setAttribute('role', 'tabpanel')
      figure.setAttribute('aria-label', button.textContent)
      button.addEventListener('click', () => choose(button.textContent))
      return button
    })
    tabs.addEventListener('keydown', ({ key }) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[key]
      if (step === undefined) return
      const at = buttons.indexOf(document.activeElement) + step + buttons.length
      buttons[at % buttons.length].click()
      buttons[at % buttons.length].focus()
    })
    tabs.append(...buttons)
    group.prepend(tabs)
    return { figures, buttons }
  })
  const show = (language) => {
    for (const { figures, buttons } of groups) {
      buttons.forEach((button, at) => {
        const isChosen = button.textContent === language
        button.setAttribute('aria-selected', String(isChosen))
        button.tabIndex = isChosen ? 0 : -1
        figures[at].hidden = !isChosen
      })
    }
  }
  const choose = (language) => {
    try {
      localStorage.setItem(LANGUAGE, language)
    } catch {}
    show(language)
  }
  let kept = null
  try {
    kept = localStorage.getItem(LANGUAGE)
  } catch {}
  const names = groups[0]?.buttons.map((button) => button.textContent) ?? []
  show(names.includes(kept) ? kept : names[0])
}

const addCopyButtons = () => {
  for (const block of document.querySelectorAll('main pre')) {
    const frame = document.createElement('div')
    frame.className = 'code'
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = 'Copy'
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(block.textContent)
      button.textContent = 'Copied'
      setTimeout(() => (button.textContent = 'Copy'), 1500)
    })
    block.replaceWith(frame)
    frame.append(block, button)
  }
}
`
