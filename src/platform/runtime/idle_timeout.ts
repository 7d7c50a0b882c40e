/** The source sent nothing for too long. */
export class IdleTimeout extends Error {}

/**
 * Yields the source's chunks and throws IdleTimeout if it is silent for `idle_ms`. The source is
 * not destroyed: its owner may still send a response over the same connection.
 */
export async function* withIdleTimeout(
  source: AsyncIterator<Uint8Array>,
  idle_ms: number,
): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const { done, value } = await withDeadline(source.next(), idle_ms)
      if (done) return
      yield value
    }
  } finally {
    // Not awaited: it waits for the pending next(), which may never settle.
    void source.return?.()?.catch(() => undefined)
  }
}

async function withDeadline<Value>(next: Promise<Value>, idle_ms: number): Promise<Value> {
  // After a timeout nobody handles a late rejection.
  next.catch(() => undefined)
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new IdleTimeout('the source sent nothing for too long')),
      idle_ms,
    )
  })
  return Promise.race([next, silence]).finally(() => clearTimeout(timer))
}
