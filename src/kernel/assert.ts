/** A claim about our own reasoning. When it fails the fault is ours, never the caller's. */
export function assert(claim: unknown, sentence: string): asserts claim {
  if (!claim) throw new Error(`broken claim: ${sentence}`)
}
