import { isAscii } from 'node:buffer'
import { Problem } from '#contract/problem.ts'
import { JsonError, readJson } from '#kernel/json.ts'
import { readLongJson } from '#platform/runtime/long_json.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Most is plain ASCII, which needs no decoder. Throws where it is not UTF-8. */
function textOf(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString('latin1') : utf8.decode(bytes)
}

/** Above this a text is read in several turns of the event loop. */
const LONG_BYTES = 131_072

/** Throws a JsonError, or a TypeError where it is not UTF-8. A promise where the text is long. */
export function readJsonBytes(bytes: Buffer): unknown {
  return bytes.length > LONG_BYTES ? readLongJson(bytes) : readJson(textOf(bytes))
}

/**
 * The bytes of a body as JSON; a promise of it where they are many. An empty body is an empty
 * object: some operations need no more.
 */
export function readJsonBody(bytes: Buffer | undefined, content_type: string | undefined): unknown {
  if (bytes === undefined || bytes.length === 0) return {}
  requireJson(content_type)
  try {
    const value = readJsonBytes(bytes)
    return value instanceof Promise ? value.catch(refuse) : value
  } catch (cause) {
    return refuse(cause)
  }
}

function refuse(cause: unknown): never {
  if (cause instanceof JsonError) {
    throw new Problem('invalid_json', `The body is not valid JSON: ${cause.message}.`)
  }
  throw new Problem('invalid_json', 'The body is not valid UTF-8.', { cause })
}

function requireJson(content_type: string | undefined): void {
  const type = content_type?.split(';')[0]?.trim().toLowerCase()
  if (type === 'application/json' || type?.endsWith('+json')) return
  throw new Problem(
    'unsupported_media_type',
    `Send the body as application/json${type === undefined ? '' : `, not as ${type}`}.`,
  )
}
