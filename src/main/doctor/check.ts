/** One line of the doctor's report: what was looked at, what was found, what to do about it. */
export type Finding = {
  name: string
  /** note: nothing to worry about, and worth knowing. */
  state: 'ok' | 'note' | 'wrong'
  found: string
  cure: string | null
}

export type Check = {
  name: string
  /** What to do when it fails. */
  cure: string
  /** What was found, if all is well; it throws what is wrong. */
  look(): Promise<string | Note>
}

export class Note {
  readonly found: string

  constructor(found: string) {
    this.found = found
  }
}

export async function findingOf({ name, cure, look }: Check): Promise<Finding> {
  try {
    const found = await look()
    return found instanceof Note
      ? { name, state: 'note', found: found.found, cure: null }
      : { name, state: 'ok', found, cure: null }
  } catch (cause) {
    return { name, state: 'wrong', found: sentenceOf(cause), cure }
  }
}

/** Errors of the network often say nothing themselves and have the reason behind them. */
function sentenceOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const { code } = cause as NodeJS.ErrnoException
  const first = cause.message || code || cause.name
  return cause.cause instanceof Error ? `${first}: ${sentenceOf(cause.cause)}` : first
}
