import { isWrite, type OperationShape } from '#contract/operation.ts'

/**
 * JSON Schemas of tools, in few tokens: a model reads all of them before its first call. They say
 * what a call needs and what its result looks like; the service checks lengths and formats itself
 * and responds with a sentence.
 */

type Schema = Readonly<Record<string, unknown>>
type Properties = Readonly<Record<string, Schema>>

/** Arguments that many tools have. An empty text means that the name says it. */
const common_arguments: Readonly<Record<string, string>> = {
  limit: '',
  order: '',
  created_gt: '',
  created_gte: '',
  created_lt: '',
  created_lte: '',
  cursor: 'next_cursor of the previous page.',
  metadata: 'Your own keys and values.',
  agent: '',
}

const idempotency_key = {
  type: 'string',
  description: 'New per action, same on a retry.',
}

export function toolInput(shape: OperationShape): object {
  const { required } = shape.input as { required?: string[] }
  const headers = Object.entries(shape.headers ?? {}).map(([header, description]) => [
    argumentOf(header),
    { type: 'string', description },
  ])
  return {
    type: 'object',
    properties: {
      ...shortProperties(shape.input.properties as unknown as Properties, shortArgument),
      ...Object.fromEntries(headers),
      ...(isWrite(shape) && { idempotency_key }),
    },
    ...(required !== undefined && { required }),
    additionalProperties: false,
  }
}

export const argumentOf = (header: string): string => header.toLowerCase().replaceAll('-', '_')

/** The short shape of a failed call: strict clients check failures against the same schema. */
const failure = {
  type: 'object',
  properties: { error: { type: 'string' }, message: { type: 'string' } },
  required: ['error', 'message'],
}

export function toolOutput(shape: OperationShape): object {
  const shorten = isWrite(shape) ? shortWriteResult : shortResult
  const output = shortSchema(shortResult('', shape.output as unknown as Schema), shorten)
  return { type: 'object', anyOf: [output, failure] }
}

type Shorten = (name: string, schema: Schema) => Schema

/** "Filter by status." is left out of the argument `status`, which already says so. */
function shortArgument(name: string, { description, ...schema }: Schema): Schema {
  if (common_arguments[name] === '') return withoutDefault(schema)
  const text =
    common_arguments[name] ?? String(description ?? '').replace(/^Filter by [^.]*\. /, '')
  return text === '' ? schema : { ...schema, description: text }
}

const withoutDefault = ({ default: _left_out, ...schema }: Schema): Schema => schema

/** A model understands a result by the names of its fields. */
function shortResult(_name: string, { description: _left_out, ...schema }: Schema): Schema {
  return schema
}

/** A write returns what a read tool shows, so the fields of nested objects are described there. */
const shortWriteResult: Shorten = (name, schema) => {
  const { properties: _left_out, ...rest } = shortResult(name, schema)
  return rest
}

const kept = ['type', 'enum', 'const', 'default', 'description', 'items', 'properties', 'anyOf']
const kept_in_arguments = [...kept, 'required']

function shortSchema(schema: Schema, shorten: Shorten): Schema {
  const { anyOf, properties, items, ...rest } = withOneType(schema, shorten)
  const names = shorten === shortArgument ? kept_in_arguments : kept
  const short = Object.fromEntries(Object.entries(rest).filter(([name]) => names.includes(name)))
  return {
    ...short,
    ...(properties !== undefined && {
      properties: shortProperties(properties as Properties, shorten),
    }),
    ...(items !== undefined && { items: shortSchema(shorten('', items as Schema), shorten) }),
    ...(anyOf !== undefined && {
      anyOf: (anyOf as Schema[]).map((each) => shortSchema(shorten('', each), shorten)),
    }),
  }
}

const shortProperties = (properties: Properties, shorten: Shorten): Properties =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      shortSchema(shorten(name, withOneType(schema, shorten)), shorten),
    ]),
  )

/**
 * `anyOf` of a type and null: in a result one schema with two types, which is shorter. Arguments
 * keep it, because some model providers take one type only; their description moves outside.
 */
function withOneType(schema: Schema, shorten: Shorten): Schema {
  const { anyOf, ...rest } = schema
  const [one, none, ...others] = (anyOf ?? []) as Schema[]
  const isNullable = none?.['type'] === 'null' && others.length === 0
  if (one === undefined || !isNullable || typeof one['type'] !== 'string') return schema
  if (shorten === shortArgument) {
    const { description, ...inner } = one
    return { ...(description !== undefined && { description }), ...rest, anyOf: [inner, none] }
  }
  const values = one['enum'] as readonly unknown[] | undefined
  return {
    ...one,
    ...rest,
    type: [one['type'], 'null'],
    ...(values !== undefined && { enum: [...values, null] }),
  }
}
