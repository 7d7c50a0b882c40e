import { NodeError, type NodeSettings, nodeCaller } from './node_call.ts'

/** Calls Ethereum's JSON-RPC, which TRON nodes serve too. */
export type JsonRpc = (method: string, params: readonly unknown[]) => Promise<unknown>

/** The node returned a JSON-RPC error. */
export class RpcError extends Error {
  readonly code: number

  constructor(method: string, code: number, message: string) {
    super(`${method}: ${message}`)
    this.name = 'RpcError'
    this.code = code
  }
}

/** True if the node understood the call and refuses it; some report that with an HTTP status. */
export const isRefusal = (cause: unknown): cause is RpcError | NodeError =>
  cause instanceof RpcError || (cause instanceof NodeError && cause.failure === 'refused')

export function jsonRpc(settings: NodeSettings, path: string): JsonRpc {
  const call = nodeCaller(settings)
  let id = 0
  return async (method, params) => {
    id += 1
    const response = await call(path, { jsonrpc: '2.0', id, method, params })
    const { result, error } = objectOf(response, 'a JSON-RPC response')
    if (error !== undefined && error !== null) {
      const { code, message } = objectOf(error, 'an error')
      throw new RpcError(method, Number(code), String(message))
    }
    return result ?? null
  }
}

export function objectOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>
  }
  throw malformedResponse(what)
}

export function listOf(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw malformedResponse(what)
}

/** Lowercase digits without 0x. */
export function hexOf(value: unknown, bytes: number, what: string): string {
  if (typeof value === 'string' && value.length === 2 + bytes * 2 && /^0x[0-9a-f]*$/i.test(value)) {
    return value.slice(2).toLowerCase()
  }
  throw malformedResponse(what)
}

export function quantityOf(value: unknown, what: string): bigint {
  if (typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value)) return BigInt(value)
  throw malformedResponse(what)
}

export function numberOf(value: unknown, what: string): number {
  const quantity = quantityOf(value, what)
  if (quantity > BigInt(Number.MAX_SAFE_INTEGER)) throw malformedResponse(what)
  return Number(quantity)
}

export const quantity = (value: number | bigint): string => `0x${value.toString(16)}`

export function malformedResponse(what: string): NodeError {
  return new NodeError('bad_answer', `the chain node's response lacks ${what}`)
}
