import { MCP_PROTOCOL } from '#doors/server_card.ts'

/** JSON-RPC 2.0 as MCP uses it: one message per request, never a batch. */

/** The first revision in which a server can send the user of a client to a URL. */
export const ELICITATION_VERSION = '2025-11-25'

/** The revisions that we speak. They differ in nothing else that we use. */
export const KNOWN_VERSIONS: readonly string[] = ['2025-03-26', MCP_PROTOCOL, ELICITATION_VERSION]

export const PARSE_ERROR = -32_700
export const INVALID_REQUEST = -32_600
export const METHOD_NOT_FOUND = -32_601
export const INVALID_PARAMS = -32_602
export const RESOURCE_NOT_FOUND = -32_002

export type MessageId = string | number

export type Params = Readonly<Record<string, unknown>>

/** A request has an id; notifications and unsolicited responses have none. */
export type Message = { id: MessageId | null; method: string | null; params: Params }

type ProtocolErrorOptions = { status: number; data?: object }

/** An invalid message. Errors of the call itself are tool errors. */
export class ProtocolError extends Error {
  readonly code: number
  readonly status: number
  readonly data: object | undefined

  constructor(code: number, message: string, options: number | ProtocolErrorOptions = 200) {
    super(message)
    const { status, data }: ProtocolErrorOptions =
      typeof options === 'number' ? { status: options } : options
    this.code = code
    this.status = status
    this.data = data
  }
}

export function messageFrom(value: unknown): Message {
  if (Array.isArray(value)) {
    throw new ProtocolError(INVALID_REQUEST, 'Batches are not supported: send one message.', 400)
  }
  if (!isObject(value) || value['jsonrpc'] !== '2.0')
    throw malformed('The message is not valid JSON-RPC 2.0.')
  const { id = null, method = null, params = {} } = value
  if (id !== null && !isToken(id)) {
    throw malformed(
      `The id must be a number or a string of at most ${TOKEN_LENGTH_MAX} characters.`,
    )
  }
  if (method === null && ('result' in value || 'error' in value)) {
    return { id: null, method: null, params: {} }
  }
  if (typeof method !== 'string') throw malformed('The method must be a string.')
  // Answered as a notification, a call would look accepted although it did not run.
  if (id === null && 'id' in value) throw malformed('The id must not be null.')
  if (!isObject(params)) throw malformed('The params must be an object.')
  return { id, method, params }
}

/** IDs are echoed to the client, so they are kept short. */
const TOKEN_LENGTH_MAX = 1_000

/** True if a client may use this value as a request ID or progress token. */
export function isToken(value: unknown): value is MessageId {
  if (typeof value === 'string') return value.length <= TOKEN_LENGTH_MAX
  return typeof value === 'number'
}

/** Our lists have one page, so no cursor is valid. Some clients send null for none. */
export function requireFirstPage({ cursor = null }: Params): void {
  if (cursor === null) return
  throw new ProtocolError(INVALID_PARAMS, 'The cursor is not valid: this list has one page.')
}

function malformed(message: string): ProtocolError {
  return new ProtocolError(INVALID_REQUEST, message, 400)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A message may repeat what the client sent, which can be long. */
const MESSAGE_LENGTH_MAX = 1_000

/** `result` is already JSON text, as a remembered list of tools is. */
export function resultText(id: MessageId | null, result: string): string {
  const written = typeof id === 'string' ? JSON.stringify(id) : id
  return `{"jsonrpc":"2.0","id":${written},"result":${result}}`
}

export function errorText(id: MessageId | null, { code, message, data }: ProtocolError): string {
  const shortened = message.slice(0, MESSAGE_LENGTH_MAX)
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: shortened, data } })
}
