import type pg from 'pg'

/** A server that has stopped responding must not keep the service from stopping. */
const CLOSE_TIMEOUT_MS = 2_000

/**
 * Returns the function that closes the pool. pool.end() resolves before its connections are closed,
 * and a server that is stopped in between reports each of them as terminated.
 */
export function poolCloser(pool: pg.Pool): () => Promise<void> {
  const open = new Set<pg.PoolClient>()
  let onLast: (() => void) | undefined
  pool.on('connect', (client) => open.add(client))
  pool.on('remove', (client) => {
    open.delete(client)
    if (open.size === 0) onLast?.()
  })
  return async () => {
    const closed = new Promise<void>((resolve) => {
      onLast = resolve
    })
    await pool.end()
    if (open.size === 0) return
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_TIMEOUT_MS)
    })
    await Promise.race([closed, late])
    clearTimeout(timer)
  }
}
