/** Ends an attempt that makes no progress for this long. */
export type Deadline = {
  signal: AbortSignal
  /** Called for each part of an upload that was sent. */
  extend(): void
  stop(): void
}

/** A response must arrive within the time; an upload only has to move on, however large it is. */
export function startDeadline(timeout_ms: number): Deadline {
  const controller = new AbortController()
  const start = () => setTimeout(() => controller.abort(), timeout_ms)
  let timer: ReturnType<typeof start> | undefined = start()
  const stop = () => {
    clearTimeout(timer)
    timer = undefined
  }
  const extend = () => {
    if (timer === undefined) return
    clearTimeout(timer)
    timer = start()
  }
  return { signal: controller.signal, extend, stop }
}

/** A browser does not say what it has sent, and the service ends an upload that stalls. */
export const noDeadline: Deadline = {
  signal: new AbortController().signal,
  extend: () => undefined,
  stop: () => undefined,
}
