/** Nothing came for too long. */
export class IdleTimeout extends Error {}

/**
 * Passes chunks on, and gives up on a source that is silent for so long. It does not end the
 * source: whoever owns it may still have an answer to send over the same connection.
 */
export async function* withIdleTimeout(
  source: AsyncIterator<Uint8Array>,
  idle_ms: number,
): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const { done, value } = await within(source.next(), idle_ms)
      if (done) return
      yield value
    }
  } finally {
    // Not awaited: it waits for what was asked for last, which may never come.
    void source.return?.()?.catch(() => undefined)
  }
}

async function within<Value>(next: Promise<Value>, idle_ms: number): Promise<Value> {
  // What comes after we have given up is nobody's any more, and neither is its failure.
  next.catch(() => undefined)
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new IdleTimeout('nothing came for too long')), idle_ms)
  })
  return Promise.race([next, silence]).finally(() => clearTimeout(timer))
}
