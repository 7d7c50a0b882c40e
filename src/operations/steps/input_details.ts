import type { ProblemDetail } from '#contract/problem.ts'

/** A validation error of the schema checker. */
export type SchemaError = {
  keyword: string
  schemaPath: string
  instancePath: string
  params: Record<string, unknown>
  message: string
}

export type InputDetails = { unknown_fields: ProblemDetail[]; details: ProblemDetail[] }

export const unknownField = (field: string): ProblemDetail => ({
  field,
  message: 'is not recognized',
})

/** Turns errors of a schema into one message per field, the most specific one. */
export function detailsFrom(schema: object, errors: readonly SchemaError[]): InputDetails {
  const unknown_fields = new Map<string, ProblemDetail>()
  const details = new Map<string, ProblemDetail>()
  for (const error of errors) {
    const at = fieldOf(error.instancePath)
    const key_rule = keyRuleAt(schema, error.schemaPath)
    for (const name of namesIn(error, 'additionalProperties')) {
      const field = join(at, name)
      if (key_rule === null) unknown_fields.set(field, unknownField(field))
      else details.set(at, { field: at, message: key_rule })
    }
    for (const name of namesIn(error, 'requiredProperties')) {
      const field = join(at, name)
      details.set(field, { field, message: 'is required' })
    }
  }
  for (const error of errors) {
    const field = fieldOf(error.instancePath)
    if (COVERED.has(error.keyword) || unknown_fields.has(field) || details.has(field)) continue
    if (isNullOffered(error) && errors.some((other) => isInside(other, error))) continue
    details.set(field, { field, message: messageFor(schema, error) })
  }
  return { unknown_fields: [...unknown_fields.values()], details: [...details.values()] }
}

/** Reported by field name above, or through the errors of their alternatives. */
const COVERED = new Set(['additionalProperties', 'required', 'boolean', 'anyOf'])

const isNullOffered = ({ keyword, params }: SchemaError): boolean =>
  keyword === 'type' && params['type'] === 'null'

/** The caller sent an object or a list and not null, so the error inside it is the cause. */
const isInside = (inner: SchemaError, { instancePath }: SchemaError): boolean =>
  inner.instancePath.startsWith(`${instancePath}/`) ||
  (inner.instancePath === instancePath && inner.keyword === 'required')

function messageFor(schema: object, error: SchemaError): string {
  const { keyword, schemaPath, params, message } = error
  return sentences[keyword]?.({ ...params, example: exampleAt(schema, schemaPath) }) ?? message
}

/** The example of the field's own schema. */
function exampleAt(schema: object, path: string): unknown {
  return schemaAt<{ examples: unknown[] }>(schema, path)?.examples?.[0]
}

/** The pattern of keys that have 1 to 40 characters. */
const KEY_LENGTHS = /^\^\[\\s\\S\]\{(\d+),(\d+)\}\$$/

/** The rule for the keys of a record such as metadata; null if the schema names its fields. */
function keyRuleAt(schema: object, path: string): string | null {
  const [pattern = ''] = Object.keys(schemaAt<PatternSchema>(schema, path)?.patternProperties ?? {})
  const lengths = KEY_LENGTHS.exec(pattern)
  return lengths === null ? null : `keys must have ${lengths[1]} to ${lengths[2]} characters`
}

type PatternSchema = { patternProperties: Record<string, unknown> }

function schemaAt<Schema>(schema: object, path: string): Partial<Schema> | undefined {
  let at: unknown = schema
  for (const part of path.split('/').slice(1))
    at = (at as Record<string, unknown> | undefined)?.[part]
  return at as Partial<Schema> | undefined
}

type Params = SchemaError['params']

/** The demand of each keyword of a schema; the field's name comes before it. */
export const sentences: Readonly<Record<string, (params: Params) => string>> = {
  type: ({ type }) => `must be ${[type].flat().map(nameOfType).join(' or ')}`,
  enum: ({ allowedValues }) => `must be one of ${(allowedValues as string[]).join(', ')}`,
  const: ({ allowedValue }) => `must be ${String(allowedValue)}`,
  pattern: ({ pattern, example }) => patternMessage(String(pattern), example),
  format: () => 'must be an ISO 8601 date and time',
  minLength: ({ limit }) => atLeast(Number(limit), 'characters'),
  maxLength: ({ limit }) => `must not have more than ${limit} characters`,
  minItems: ({ limit }) => atLeast(Number(limit), 'items'),
  maxItems: ({ limit }) => `must not have more than ${limit} items`,
  maxProperties: ({ limit }) => `must not have more than ${limit} keys`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

const nameOfType = (type: unknown): string => TYPES[String(type)] ?? String(type)

const atLeast = (limit: number, things: string): string =>
  limit === 1 ? 'must not be empty' : `must have at least ${limit} ${things}`

/** The pattern of an `EnumList`: its values, separated by commas. */
const ENUM_LIST = /^\^\(([\w.|]+)\)\(,\(\1\)\)\*\$$/

/** The pattern of a `Text`. */
const NOT_BLANK = '\\S'

function patternMessage(pattern: string, example: unknown): string {
  if (pattern === NOT_BLANK) return 'must not be blank'
  const values = ENUM_LIST.exec(pattern)?.[1]?.split('|')
  return values === undefined
    ? `must look like ${String(example)}`
    : `must be one or more of ${values.join(', ')}, separated by commas`
}

function namesIn(error: SchemaError, param: string): string[] {
  const names = error.params[param]
  return Array.isArray(names) ? names.map(String) : []
}

function fieldOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.')
}

function join(at: string, name: string): string {
  return at === '' ? name : `${at}.${name}`
}
