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

/** Throws a JsonError, or a TypeError if the bytes are not UTF-8. */
export async function readJsonBytes(bytes: Buffer): Promise<unknown> {
  return bytes.length > LONG_BYTES ? readLongJson(bytes) : readJson(textOf(bytes))
}

/** The bytes of a body as JSON. An empty body is an empty object: some operations need no more. */
export async function readJsonBody(
  bytes: Buffer | undefined,
  content_type: string | undefined,
): Promise<unknown> {
  if (bytes === undefined || bytes.length === 0) return {}
  requireJson(content_type)
  try {
    return await readJsonBytes(bytes)
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
