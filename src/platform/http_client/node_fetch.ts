/** The part of fetch that talking to a chain node needs. */
export type NodeFetch = (
  url: string,
  init: { method: 'POST'; headers: Record<string, string>; body: string; redirect: 'error' },
) => Promise<{ status: number; body: AsyncIterable<Uint8Array> | null }>

/**
 * Calls a node that the operator configured, on any address, loopback included. One deadline covers
 * the call from its first byte to the last one read.
 */
export function nodeFetch(timeout_ms: number): NodeFetch {
  return async (url, init) => {
    const { status, body } = await fetch(url, { ...init, signal: AbortSignal.timeout(timeout_ms) })
    return { status, body: body as AsyncIterable<Uint8Array> | null }
  }
}
