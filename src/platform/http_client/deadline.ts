/** Of one outer signal, which may end hundreds of requests: it gets one listener for them all. */
const ended_by = new WeakMap<AbortSignal, Set<() => void>>()

function joinedTo(outer: AbortSignal): Set<() => void> {
  const known = ended_by.get(outer)
  if (known !== undefined) return known
  const acts = new Set<() => void>()
  ended_by.set(outer, acts)
  const endAll = () => {
    for (const act of acts) act()
  }
  outer.addEventListener('abort', endAll, { once: true })
  return acts
}

/**
 * One end for everything that a request waits for. Most requests end long before it, so the parts
 * that cost something, a signal above all, are made only where they are asked for.
 */
export class Deadline {
  readonly #outer: Set<() => void> | undefined
  readonly #timer: NodeJS.Timeout
  #act: (() => void) | undefined
  #controller: AbortController | undefined
  #isOver = false

  constructor(timeout_ms: number, outer?: AbortSignal) {
    this.#timer = setTimeout(this.#strike, timeout_ms)
    if (outer?.aborted) this.#strike()
    else if (outer !== undefined) this.#outer = joinedTo(outer).add(this.#strike)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** For what takes nothing else, such as a lookup. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#isOver) this.#controller.abort()
    return this.#controller.signal
  }

  /** What is to be done when time is up, from now on; undefined for nothing more. */
  onOver(act: (() => void) | undefined): void {
    this.#act = act
    if (this.#isOver) act?.()
  }

  /** The request has ended in time. */
  lift(): void {
    clearTimeout(this.#timer)
    this.#outer?.delete(this.#strike)
  }

  readonly #strike = (): void => {
    this.#isOver = true
    this.#controller?.abort()
    this.#act?.()
  }
}
