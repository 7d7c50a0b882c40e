/** One line of `florin doctor`. */
export type Finding = {
  name: string
  /** A note is harmless but worth knowing. */
  state: 'ok' | 'note' | 'wrong'
  found: string
  /** The fix of a failed check. */
  cure: string | null
}

export type Check = {
  name: string
  cure: string
  /** Returns the finding; throws if the check fails. */
  run(): Promise<string | Note>
}

export class Note {
  readonly found: string

  constructor(found: string) {
    this.found = found
  }
}

export async function runCheck({ name, cure, run }: Check): Promise<Finding> {
  try {
    const found = await run()
    return found instanceof Note
      ? { name, state: 'note', found: found.found, cure: null }
      : { name, state: 'ok', found, cure: null }
  } catch (cause) {
    return { name, state: 'wrong', found: describeError(cause), cure }
  }
}

/** Network errors often have an empty message and the reason in their cause. */
function describeError(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const { code } = cause as NodeJS.ErrnoException
  const first = cause.message || code || cause.name
  return cause.cause instanceof Error ? `${first}: ${describeError(cause.cause)}` : first
}
