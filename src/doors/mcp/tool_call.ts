import type { ToolCall, Tools } from './exchange.ts'
import { INVALID_PARAMS, isObject, type Params, ProtocolError } from './protocol.ts'

/** A tool is known by its name alone: whether it may be called is for the pipeline to say. */
export function toolCallFrom(tools: Tools, params: Params): ToolCall {
  const { name, arguments: given = {}, _meta: meta = {} } = params
  if (typeof name !== 'string') {
    throw new ProtocolError(INVALID_PARAMS, 'The name of the tool must be a string.')
  }
  if (!tools.has(name)) {
    throw new ProtocolError(INVALID_PARAMS, `There is no tool "${name.slice(0, 100)}".`)
  }
  if (!isObject(given)) throw new ProtocolError(INVALID_PARAMS, 'arguments must be an object.')
  return { name, arguments: given, meta: isObject(meta) ? meta : {} }
}
