import { JsonError, readJson } from '#kernel/json.ts'
import type { NodeFetch } from '#platform/http_client/node_fetch.ts'

export type NodeSettings = {
  /** Without a path: https://api.trongrid.io */
  url: string
  fetch: NodeFetch
  headers?: Record<string, string>
  body_bytes_max?: number
}

/**
 * unreachable: no response. throttled: retry later. refused: the node rejected the request.
 * bad_answer: the response is malformed. Only `refused` is caused by our request.
 */
export type NodeFailure = 'unreachable' | 'throttled' | 'refused' | 'bad_answer'

export class NodeError extends Error {
  readonly failure: NodeFailure

  constructor(failure: NodeFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'NodeError'
    this.failure = failure
  }
}

/** TRON's own limit for a request; the receipts of a full block are far smaller. */
const BODY_BYTES_MAX = 25 * 1024 * 1024

/** TronGrid returns 403 as well as 429 for too many requests. */
const THROTTLING_STATUSES = [403, 429, 503]
const THROTTLING_SENTENCE = /lack of computing resources|frequency limit|rate limit|too many/i
const EXCERPT_LETTERS = 200

export type NodeCall = (path: string, request: Record<string, unknown>) => Promise<unknown>

export function nodeCaller(settings: NodeSettings): NodeCall {
  const base = settings.url.replace(/\/+$/, '')
  return async (path, request) => {
    const { status, text } = await post(
      settings,
      path === '' ? base : `${base}/${path}`,
      JSON.stringify(request),
    )
    if (THROTTLING_STATUSES.includes(status)) throw failure('throttled', path, `status ${status}`)
    if (status >= 500) throw failure('unreachable', path, `status ${status}`)
    if (status !== 200) throw failure('refused', path, `status ${status}`)
    const response = parseBody(path, text)
    requireNoError(path, response)
    return response
  }
}

async function post(
  { fetch, headers, body_bytes_max = BODY_BYTES_MAX }: NodeSettings,
  url: string,
  body: string,
): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body,
      redirect: 'error',
    })
    return { status: response.status, text: await readText(response.body, body_bytes_max) }
  } catch (cause) {
    if (cause instanceof NodeError) throw cause
    throw new NodeError('unreachable', 'the chain node did not respond', cause)
  }
}

/** Throwing inside the loop cancels the stream, so an endless response is not read. */
async function readText(
  body: AsyncIterable<Uint8Array> | null,
  bytes_max: number,
): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > bytes_max) {
      throw new NodeError('bad_answer', `the chain node sent more than ${bytes_max} bytes`)
    }
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function parseBody(path: string, text: string): unknown {
  try {
    return readJson(text, { values_max: Number.POSITIVE_INFINITY })
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause
    // Lite nodes return plain text for calls that they do not serve.
    throw failure('bad_answer', path, `not JSON: ${text.slice(0, EXCERPT_LETTERS)}`)
  }
}

/** TRON nodes report throttling and internal errors with status 200 and a single key. */
function requireNoError(path: string, response: unknown): void {
  if (typeof response !== 'object' || response === null || !('Error' in response)) return
  const sentence = String(response.Error).slice(0, EXCERPT_LETTERS)
  throw failure(THROTTLING_SENTENCE.test(sentence) ? 'throttled' : 'refused', path, sentence)
}

function failure(kind: NodeFailure, path: string, what: string): NodeError {
  return new NodeError(kind, `${path}: ${what}`)
}
