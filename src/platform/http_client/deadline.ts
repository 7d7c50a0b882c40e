/** By outer signal. One signal may end hundreds of requests and gets one listener for all. */
const callbacks_of = new WeakMap<AbortSignal, Set<() => void>>()

function callbacksOf(outer: AbortSignal): Set<() => void> {
  const known = callbacks_of.get(outer)
  if (known !== undefined) return known
  const callbacks = new Set<() => void>()
  callbacks_of.set(outer, callbacks)
  const runAll = () => {
    for (const callback of callbacks) callback()
  }
  outer.addEventListener('abort', runAll, { once: true })
  return callbacks
}

/**
 * One deadline for all stages of a request. Most requests finish long before it, so the
 * AbortSignal is created only if a stage needs it: 4 % of a delivery (`npm run bench -- webhooks`).
 */
export class Deadline {
  readonly #outer: Set<() => void> | undefined
  readonly #timer: NodeJS.Timeout
  #callback: (() => void) | undefined
  #controller: AbortController | undefined
  #isOver = false

  constructor(timeout_ms: number, outer?: AbortSignal) {
    this.#timer = setTimeout(this.#expire, timeout_ms)
    if (outer?.aborted) this.#expire()
    else if (outer !== undefined) this.#outer = callbacksOf(outer).add(this.#expire)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** For stages that only accept a signal, such as a DNS lookup. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#isOver) this.#controller.abort()
    return this.#controller.signal
  }

  /** Replaces the callback for the end of the deadline; undefined removes it. */
  onOver(callback: (() => void) | undefined): void {
    this.#callback = callback
    if (this.#isOver) callback?.()
  }

  /** Call it when the request has finished. */
  cancel(): void {
    clearTimeout(this.#timer)
    this.#outer?.delete(this.#expire)
  }

  readonly #expire = (): void => {
    this.#isOver = true
    this.#controller?.abort()
    this.#callback?.()
  }
}
