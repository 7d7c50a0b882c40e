/** Checks an internal invariant. A failure is a bug in our code, never the caller's mistake. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`broken claim: ${message}`)
}
