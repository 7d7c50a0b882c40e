/** The part of fetch that calls to chain nodes need. */
export type NodeFetch = (
  url: string,
  init: { method: 'POST'; headers: Record<string, string>; body: string; redirect: 'error' },
) => Promise<{ status: number; body: AsyncIterable<Uint8Array> | null }>

/**
 * Calls a chain node that the operator configured, on any address including loopback. One deadline
 * covers the whole call.
 */
export function nodeFetch(timeout_ms: number): NodeFetch {
  return async (url, init) => {
    const { status, body } = await fetch(url, { ...init, signal: AbortSignal.timeout(timeout_ms) })
    return { status, body: body as AsyncIterable<Uint8Array> | null }
  }
}
