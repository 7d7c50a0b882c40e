/** Elements by role and name, as a screen reader presents them. */

const input_roles: Readonly<Record<string, string>> = {
  checkbox: 'checkbox',
  radio: 'radio',
  search: 'searchbox',
  file: 'file',
  submit: 'button',
}

const tag_roles: Readonly<Record<string, string>> = {
  a: 'link',
  article: 'article',
  button: 'button',
  dd: 'definition',
  dialog: 'dialog',
  dt: 'term',
  fieldset: 'group',
  form: 'form',
  h1: 'heading',
  h2: 'heading',
  h3: 'heading',
  img: 'img',
  li: 'listitem',
  main: 'main',
  nav: 'navigation',
  ol: 'list',
  option: 'option',
  output: 'status',
  search: 'search',
  select: 'combobox',
  table: 'table',
  tbody: 'rowgroup',
  td: 'cell',
  textarea: 'textbox',
  th: 'columnheader',
  time: 'time',
  tr: 'row',
  ul: 'list',
}

/** Password and date fields have no role of their own; people type into them as into any other. */
export function roleOf(element: Element): string | null {
  const own = element.getAttribute('role')
  if (own !== null) return own
  const tag = element.localName
  if (tag === 'input') return input_roles[element.getAttribute('type') ?? ''] ?? 'textbox'
  if (tag === 'a' && !element.hasAttribute('href')) return null
  return tag_roles[tag] ?? null
}

/** Toasts outlive the page that they were raised on, so they are asked for by themselves. */
const HIDDEN = '[aria-hidden=true], [hidden], [data-toasts]'

export const isHidden = (element: Element): boolean => element.closest(HIDDEN) !== null

const trimmed = (text: string) =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ (?=[.,;:)])/g, '')
    .trim()

/** The text without parts that are hidden from screen readers. Elements are a space apart. */
export function textOf(node: Node): string {
  return trimmed(rawText(node))
}

function rawText(node: Node): string {
  if (node.nodeType === Node.TEXT_NODE) return node.textContent ?? ''
  if (node.nodeType !== Node.ELEMENT_NODE) return ''
  const element = node as Element
  if (element.localName === 'wbr' || element.matches(HIDDEN)) return ''
  return ` ${[...element.childNodes].map(rawText).join('')} `
}

const textOfIds = (element: Element, attribute: string): string =>
  (element.getAttribute(attribute) ?? '')
    .split(' ')
    .map((id) => element.ownerDocument.getElementById(id))
    .map((found) => (found === null ? '' : textOf(found)))
    .join(' ')
    .trim()

const NAMED_BY_CONTENT: ReadonlySet<string | null> = new Set([
  ...['alert', 'button', 'cell', 'columnheader', 'definition', 'heading', 'link', 'listitem'],
  ...['menuitem', 'option', 'row', 'status', 'tab', 'term', 'time', 'timer'],
])

export function nameOf(element: Element): string {
  const label = textOfIds(element, 'aria-labelledby') || element.getAttribute('aria-label')
  if (label) return trimmed(label)
  const labels = element.id === '' ? null : document.querySelector(`label[for="${element.id}"]`)
  const around =
    labels ?? (/^(?:input|select)$/.test(element.localName) ? element.closest('label') : null)
  if (around !== null) return textOf(around)
  if (NAMED_BY_CONTENT.has(roleOf(element))) return textOf(element)
  return trimmed(element.getAttribute('title') ?? element.getAttribute('placeholder') ?? '')
}

/** The hint or the error that belongs to a field. */
export const descriptionOf = (element: Element): string => textOfIds(element, 'aria-describedby')

/** True for the exact name, or a part of it as a pattern. */
export const isNamed = (element: Element, name: string | RegExp | undefined): boolean => {
  if (name === undefined) return true
  return typeof name === 'string' ? nameOf(element) === name : name.test(nameOf(element))
}
