import { JsonError, readJson } from '#kernel/json.ts'
import type { NodeFetch } from '#platform/http_client/node_fetch.ts'

export type NodeSettings = {
  /** Where the node is, without a path: https://api.trongrid.io */
  url: string
  fetch: NodeFetch
  headers?: Record<string, string>
  body_bytes_max?: number
}

/**
 * unreachable: no answer came. throttled: come back later. refused: the node understood and said
 * no. bad_answer: what came is not an answer to this call. Only `refused` is about our request.
 */
export type NodeFailure = 'unreachable' | 'throttled' | 'refused' | 'bad_answer'

export class NodeError extends Error {
  readonly failure: NodeFailure

  constructor(failure: NodeFailure, sentence: string, cause?: unknown) {
    super(sentence, cause === undefined ? undefined : { cause })
    this.name = 'NodeError'
    this.failure = failure
  }
}

/** The receipts of a full block stay well below this; it is TRON's own bound for a request. */
const BODY_BYTES_MAX = 25 * 1024 * 1024

/** TronGrid answers 403 as well as 429 to a client that asks too often. */
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
    throw new NodeError('unreachable', 'the chain node did not answer', cause)
  }
}

/** Leaving the loop early cancels the stream, so an endless answer costs no more than the bound. */
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
    // Lite nodes answer a bare sentence to calls that they do not serve.
    throw failure('bad_answer', path, `not JSON: ${text.slice(0, EXCERPT_LETTERS)}`)
  }
}

/** Throttling and internal errors come with status 200 and a single key, outside any envelope. */
function requireNoError(path: string, response: unknown): void {
  if (typeof response !== 'object' || response === null || !('Error' in response)) return
  const sentence = String(response.Error).slice(0, EXCERPT_LETTERS)
  throw failure(THROTTLING_SENTENCE.test(sentence) ? 'throttled' : 'refused', path, sentence)
}

function failure(kind: NodeFailure, path: string, what: string): NodeError {
  return new NodeError(kind, `${path}: ${what}`)
}
