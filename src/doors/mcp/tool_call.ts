import type { ToolCall, Tools } from './exchange.ts'
import { INVALID_PARAMS, isObject, type Params, ProtocolError } from './protocol.ts'

/** Checks only that the tool exists; the pipeline checks access. */
export function toolCallFrom(tools: Tools, params: Params): ToolCall {
  const { name, arguments: given = {}, _meta: meta = {} } = params
  if (typeof name !== 'string') {
    throw new ProtocolError(INVALID_PARAMS, 'The tool name must be a string.')
  }
  if (!tools.has(name)) {
    throw new ProtocolError(INVALID_PARAMS, `Unknown tool: "${name.slice(0, 100)}".`)
  }
  if (!isObject(given)) throw new ProtocolError(INVALID_PARAMS, 'arguments must be an object.')
  return { name, arguments: given, meta: isObject(meta) ? meta : {} }
}
