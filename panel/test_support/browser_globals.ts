import { Window } from '#test/packages/happy_dom.ts'

/**
 * A document for React, and the globals that modules of the panel read when they are loaded.
 * Import it before them. Node's own globals stay, except events and forms, which must fit the
 * document. Later files of the process are panel tests too, because the runner takes those last.
 */
const window = new Window({ url: 'http://localhost/', width: 1280, height: 800 })

const REPLACED = ['Event', 'CustomEvent', 'FormData', 'navigator', 'localStorage', 'sessionStorage']
/** They mean something else in Node, or nothing to the panel. */
const LEFT_OUT = ['GLOBAL', 'root', 'name', 'close', 'open', 'opener', 'closed', 'constructor']

type Globals = Record<string, unknown>
const globals = globalThis as unknown as Globals
const of_window = window as unknown as Globals

const isMethod = (value: unknown, name: string) =>
  typeof value === 'function' && /^[a-z]/.test(name)

function namesOf(object: object): string[] {
  const parent: unknown = Object.getPrototypeOf(object)
  const own = Object.getOwnPropertyNames(object)
  if (parent === null || parent === Object.prototype) return own
  return [...own, ...namesOf(parent as object)]
}

for (const name of new Set(namesOf(window))) {
  if (LEFT_OUT.includes(name) || (name in globals && !REPLACED.includes(name))) continue
  const value = of_window[name]
  Object.defineProperty(globals, name, {
    configurable: true,
    writable: true,
    value: isMethod(value, name) ? (value as () => unknown).bind(window) : value,
  })
}

// A page does not keep its browser open: neither a toast that is still shown nor a channel to other
// tabs may delay the end of the process.
const startTimeout = globalThis.setTimeout
globals['setTimeout'] = (...args: Parameters<typeof startTimeout>) => startTimeout(...args).unref()
globals['BroadcastChannel'] = class extends BroadcastChannel {
  constructor(name: string) {
    super(name)
    // Only Node has it; the types are those of browsers.
    ;(this as unknown as { unref(): void }).unref()
  }
}

// A test's clock replaces the timers of Node, so those of the window lead there.
for (const name of ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const) {
  of_window[name] = (...args: unknown[]) =>
    (globals[name] as (...all: unknown[]) => unknown)(...args)
}

/** Uploads report their progress, which fetch cannot; they are answered as all requests are. */
class UploadRequest {
  readonly upload: { onprogress?: (progress: { loaded: number }) => void } = {}
  onloadend: () => void = () => undefined
  status = 0
  responseText = ''
  #request: { method: string; target: string; headers: Record<string, string> } | undefined

  open(method: string, target: string): void {
    this.#request = { method, target, headers: {} }
  }

  setRequestHeader(name: string, value: string): void {
    if (this.#request !== undefined) this.#request.headers[name] = value
  }

  async send(body: Blob): Promise<void> {
    const { target, ...options } = this.#request ?? { target: '' }
    this.upload.onprogress?.({ loaded: body.size / 2 })
    try {
      const response = await fetch(target, { ...options, body })
      this.responseText = await response.text()
      this.status = response.status
    } catch {
      this.status = 0
    }
    this.onloadend()
  }
}
Object.assign(globals, { XMLHttpRequest: UploadRequest })

/** The document draws nothing: charts get a canvas that accepts all commands. */
const canvas = new Proxy({} as Globals, {
  get: (drawn, name) =>
    name in drawn ? drawn[String(name)] : () => ({ width: 0, addColorStop: () => undefined }),
})
Object.assign(window.HTMLCanvasElement.prototype, { getContext: () => canvas })
class Path2D {
  constructor() {
    // biome-ignore lint/correctness/noConstructorReturn: a path accepts all commands too.
    return canvas as unknown as Path2D
  }
}
Object.assign(globals, { Path2D })

// In browsers the pattern has to match the whole value.
Object.defineProperty(window.ValidityState.prototype, 'patternMismatch', {
  get(this: { element: HTMLInputElement }) {
    const pattern = this.element.getAttribute('pattern')
    if (pattern === null || this.element.value === '') return false
    return !new RegExp(`^(?:${pattern})$`, 'v').test(this.element.value)
  },
})
