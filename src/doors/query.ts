import type { TSchema } from 'typebox'
import type { InputShape } from '#contract/operation.ts'
import { Problem } from '#contract/problem.ts'
import { JsonError, readJson } from '#kernel/json.ts'

type Primitive = { type?: string; anyOf?: Primitive[] }

/**
 * A query string as an input: numbers and booleans are converted by their schema, everything else
 * stays text. A repeated name is refused, because either value could be meant.
 */
export function readQuery(
  { input: shape }: Pick<InputShape, 'input'>,
  search: string,
): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  if (search === '') return input
  for (const [name, text] of new URLSearchParams(search)) {
    if (Object.hasOwn(input, name)) {
      throw new Problem(
        'invalid_request',
        `The query parameter "${name}" was sent more than once.`,
        {
          details: [
            {
              field: name,
              message: 'was sent more than once; separate multiple values with commas',
            },
          ],
        },
      )
    }
    const value = typedValue(shape.properties[name], text)
    Object.defineProperty(input, name, { value, enumerable: true, writable: true })
  }
  return input
}

function typedValue(schema: TSchema | undefined, text: string): unknown {
  const { type } = (schema ?? {}) as Primitive
  if (type === 'integer' || type === 'number') return numberOf(text)
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return text
}

/** Text that is not a number stays text, so that validation names the field. */
function numberOf(text: string): unknown {
  if (!/^-?\d/.test(text)) return text
  try {
    return readJson(text)
  } catch (cause) {
    if (cause instanceof JsonError) return text
    throw cause
  }
}
