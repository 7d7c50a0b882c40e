import { fieldProblem } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import { readMultipart } from './multipart.ts'

type FormOptions = { boundary: string; store(source: AsyncIterable<Uint8Array>): Promise<void> }

/** Longer than any valid note. */
const FIELD_BYTES_MAX = 65_536

/** Reads an evidence form: the fields `kind` and `note`, and one file named `file`. */
export async function readForm(
  source: AsyncIterable<Uint8Array>,
  { boundary, store }: FormOptions,
): Promise<Record<string, unknown>> {
  const fields: Record<string, unknown> = {}
  let hasFile = false
  for await (const { name, file_name, body } of readMultipart(source, boundary)) {
    if (name === 'file') {
      if (hasFile) throw invalid(name, 'was sent more than once')
      hasFile = true
      await store(body)
      if (file_name) fields['file_name'] = file_name
      continue
    }
    if (name !== 'kind' && name !== 'note') throw invalid(name, 'is not recognized')
    if (Object.hasOwn(fields, name)) throw invalid(name, 'was sent more than once')
    fields[name] = await textOf(name, body)
  }
  return fields
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

async function textOf(name: string, body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > FIELD_BYTES_MAX) throw invalid(name, 'is too long')
    chunks.push(chunk)
  }
  try {
    return utf8.decode(Buffer.concat(chunks))
  } catch (cause) {
    throw new Problem('invalid_request', `${name} is not valid UTF-8.`, { cause })
  }
}

function invalid(field: string, message: string): Problem {
  return fieldProblem('invalid_request', field, message)
}
