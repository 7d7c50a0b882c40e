import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setImmediate as later, setTimeout as waitMs } from 'node:timers'
import { QueryClientProvider } from '@tanstack/react-query'
import { createElement, type FunctionComponent, type ReactElement } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from '#panel/queries.ts'
import { setServiceTime } from '#panel/service_clock.ts'
import { Toasts } from '#panel/ui/toast.tsx'
import { descriptionOf, isHidden, isNamed, nameOf, roleOf, textOf } from './accessible.ts'
import { testClock } from './clock.ts'
import { hasOpenRequests } from './network.ts'

type Name = string | RegExp

type View = {
  /** The only element with this role and name; fails if there is none, or more than one. */
  get(role: string, name?: Name): HTMLElement
  has(role: string, name?: Name): boolean
  all(role: string, name?: Name): HTMLElement[]
  /** The names of all elements with this role. */
  names(role: string): string[]
  text(): string
  /** The same, limited to a part of the page. */
  in(role: string, name?: Name): View
}

export type Page = View & {
  click(role: string, name?: Name): Promise<void>
  clickOn(element: Element, options?: MouseEventInit): Promise<void>
  /** Types into the field with this label, or chooses its option. */
  fill(label: Name, value: string): Promise<void>
  press(key: string, options?: KeyboardEventInit): Promise<void>
  /** The error below a refused field; undefined if the field is not refused. */
  errorOf(label: Name): string | undefined
  /** The confirmations that this page has shown, newest last. */
  toasts(): string[]
  valueOf(label: Name): string
  /** Path and query of the page that is open. */
  path(): string
  /** Lets time pass; only with a test clock. */
  pass(ms: number): Promise<void>
  settle(): Promise<void>
  /** For parts that are loaded on demand, which React shows with a delay. */
  until(isShown: () => boolean): Promise<void>
  render(element: ReactElement): Promise<void>
}

type OpenOptions = {
  path?: string
  /** The history state, which a link to this page can pass on. */
  state?: unknown
  /** Errors that React may report, because the test provokes them. */
  expected_errors?: RegExp
}

/** Renders the component as the panel does, and waits for the answers to its requests. */
export async function open<Props extends object>(
  t: TestContext,
  component: FunctionComponent<Props>,
  props: Props,
  options: OpenOptions = {},
): Promise<Page> {
  return openElement(t, createElement(component, props), options)
}

export async function openElement(
  t: TestContext,
  element: ReactElement,
  { path = '/', state = null, expected_errors }: OpenOptions = {},
): Promise<Page> {
  await closeLast()
  history.replaceState(state, '', path)
  const root = createRoot(addContainer())
  const errors = collectErrors(t, expected_errors)
  const toasts = await mountToasts()
  closeLast = async () => {
    closeLast = async () => undefined
    root.unmount()
    toasts.unmount()
    await turn()
    // Otherwise each would be kept for five minutes.
    for (const mutation of queryClient.getMutationCache().getAll()) mutation.destroy()
    queryClient.clear()
    document.body.replaceChildren()
    sessionStorage.clear()
    localStorage.clear()
    setServiceTime(new Date().toISOString())
  }
  t.after(async () => {
    await closeLast()
    assert.deepEqual(errors, [], 'React or the browser reported errors')
  })
  const render = async (shown: ReactElement) => {
    root.render(createElement(QueryClientProvider, { client: queryClient }, shown))
    await settle()
  }
  await render(element)
  return { ...viewOf(document.body), ...actions, toasts: toasts.shown, render }
}

/** A hook that failed keeps Node from running the later ones, so the next page closes it too. */
let closeLast = async (): Promise<void> => undefined

function addContainer(): HTMLElement {
  const container = document.createElement('div')
  document.body.append(container)
  return container
}

/** Earlier tests may have raised toasts, which are left out. */
async function mountToasts(): Promise<{ shown(): string[]; unmount(): void }> {
  const container = addContainer()
  container.dataset['toasts'] = ''
  const root = createRoot(container)
  root.render(createElement(Toasts))
  await settle()
  const earlier = new Set(container.querySelectorAll('p'))
  return {
    shown: () =>
      [...container.querySelectorAll('p')]
        .filter((toast) => !earlier.has(toast))
        .map(({ textContent }) => textContent ?? ''),
    unmount: () => root.unmount(),
  }
}

/** Warnings of React are faults of a component: two rows with one key, an invalid element. */
function collectErrors(t: TestContext, expected: RegExp | undefined): string[] {
  const errors: string[] = []
  t.mock.method(console, 'error', (...words: unknown[]) => {
    const text = words.map(String).join(' ')
    // Node's warnings about itself are printed in the same way. The document lacks <search>.
    if (expected?.test(text) !== true && !/^\(node:|unrecognized in this browser/.test(text))
      errors.push(text)
  })
  return errors
}

function viewOf(root: Element): View {
  const all = (role: string, name?: Name) =>
    [...root.querySelectorAll<HTMLElement>('*')].filter(
      (element) => roleOf(element) === role && !isHidden(element) && isNamed(element, name),
    )
  const get = (role: string, name?: Name) => {
    const found = all(role, name)
    const [only] = found
    if (found.length === 1 && only !== undefined) return only
    const wanted = `${role}${name === undefined ? '' : ` ${name}`}`
    const names = all(role).map((element) => `"${nameOf(element)}"`)
    const there = names.length === 0 ? `in: ${textOf(root)}` : `among: ${names.join(', ')}`
    return assert.fail(`${found.length} × ${wanted}, ${there}`)
  }
  return {
    all,
    get,
    has: (role, name) => all(role, name).length > 0,
    names: (role) => all(role).map(nameOf),
    text: () => textOf(root),
    in: (role, name) => viewOf(get(role, name)),
  }
}

const FIELD_ROLES = ['textbox', 'searchbox', 'combobox', 'spinbutton', 'file']
type FieldElement = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

function fieldOf(label: Name): FieldElement {
  const view = viewOf(document.body)
  const found = FIELD_ROLES.flatMap((role) => view.all(role, label))
  const [only] = found
  if (found.length === 1 && only !== undefined) return only as FieldElement
  const names = FIELD_ROLES.flatMap((role) => view.names(role))
  return assert.fail(`${found.length} fields ${label} among: ${names.join(', ')}`)
}

const actions: Omit<Page, keyof View | 'render' | 'toasts'> = {
  click: (role, name) => actions.clickOn(viewOf(document.body).get(role, name)),
  clickOn: async (element, options = {}) => {
    const init = { bubbles: true, cancelable: true, button: 0, ...options }
    element.dispatchEvent(new PointerEvent('pointerdown', init))
    element.dispatchEvent(new MouseEvent('mousedown', init))
    if ((element as HTMLButtonElement).disabled !== true) (element as HTMLElement).focus()
    element.dispatchEvent(new PointerEvent('pointerup', init))
    element.dispatchEvent(new MouseEvent('mouseup', init))
    element.dispatchEvent(new MouseEvent('click', init))
    await settle()
  },
  fill: async (label, value) => {
    const field = fieldOf(label)
    field.focus()
    // React notices a change only if it is made past its own property of the element.
    Reflect.set(Object.getPrototypeOf(field), 'value', value, field)
    assert.equal(field.value, value, `${label} does not take "${value}"`)
    const is_select = field.localName === 'select'
    field.dispatchEvent(new Event(is_select ? 'change' : 'input', { bubbles: true }))
    await settle()
  },
  press: async (key, options = {}) => {
    const init = { key, bubbles: true, cancelable: true, ...options }
    const target = document.activeElement ?? document.body
    target.dispatchEvent(new KeyboardEvent('keydown', init))
    target.dispatchEvent(new KeyboardEvent('keyup', init))
    await settle()
  },
  errorOf: (label) => {
    const field = fieldOf(label)
    return field.getAttribute('aria-invalid') === 'true' ? descriptionOf(field) : undefined
  },
  valueOf: (label) => fieldOf(label).value,
  path: () => location.pathname + location.search,
  pass: async (ms) => {
    const clock = testClock()
    assert(clock !== null, 'the test has no clock of its own')
    clock.pass(ms)
    await settle()
  },
  settle: () => settle(),
  until: async (isShown) => {
    const began = performance.now()
    while (!isShown()) {
      assert(performance.now() - began < UNTIL_MAX_MS, `it was not shown: ${isShown}`)
      await new Promise((resolve) => waitMs(resolve, 20))
      await settle()
    }
  },
}

const turn = () => new Promise<void>((resolve) => later(resolve))

const QUIET_TURNS = 4
const UNTIL_MAX_MS = 5_000
const TURNS_MAX = 2_000

let changes = 0
new MutationObserver((records) => {
  changes += records.length
}).observe(document, { subtree: true, childList: true, attributes: true, characterData: true })

/** Waits until all requests are answered and the page no longer changes. */
async function settle(): Promise<void> {
  let seen = -1
  for (let quiet = 0, turns = 0; quiet < QUIET_TURNS; turns += 1) {
    assert(turns < TURNS_MAX, 'the page does not settle')
    // TanStack Query reports with a timer of no delay, which is due after a millisecond.
    if (testClock() === null) await new Promise((resolve) => waitMs(resolve, 1))
    else testClock()?.pass(1)
    await turn()
    quiet = changes === seen && !hasOpenRequests() ? quiet + 1 : 0
    seen = changes
  }
}
