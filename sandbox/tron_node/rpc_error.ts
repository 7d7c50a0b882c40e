/** JSON-RPC error codes, and the one that nodes use for too many results. */
export const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602
export const INVALID_REQUEST = -32600
export const SERVER_ERROR = -32000
export const LIMIT_EXCEEDED = -32005

export class RpcError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export function invalidParams(what: string): RpcError {
  return new RpcError(INVALID_PARAMS, what)
}
