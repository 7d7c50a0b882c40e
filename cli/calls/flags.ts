import type { TObject, TSchema } from 'typebox'
import { UsageError } from '#cli/exit_codes.ts'

/** A command line flag, derived from the JSON schema of an input field. */
export type Flag = {
  /** The field or nested field: `limits.daily_usd`. */
  name: string
  kind: 'text' | 'number' | 'boolean' | 'list' | 'object'
  isNullable: boolean
  isRequired: boolean
  description: string
  choices: readonly string[]
  example: unknown
}

/** The parts of a JSON schema that flags use. */
type FieldSchema = {
  type?: string
  enum?: readonly string[]
  anyOf?: readonly FieldSchema[]
  items?: FieldSchema
  properties?: Readonly<Record<string, TSchema>>
  required?: readonly string[]
  patternProperties?: unknown
  description?: string
  default?: unknown
  examples?: readonly unknown[]
}

/** One flag per field and nested field, so that users rarely need to type JSON. */
export function flagsOf(input: TObject, excluded: readonly string[] = []): Flag[] {
  return fieldsOf(input, '').filter(({ name }) => !excluded.includes(name))
}

function fieldsOf(schema: FieldSchema, prefix: string): Flag[] {
  return Object.entries(schema.properties ?? {}).flatMap(([field, field_schema]) => {
    const isRequired = prefix === '' && (schema.required ?? []).includes(field)
    const flag = flagOf(prefix + field, field_schema as FieldSchema, isRequired)
    return [flag, ...fieldsOf(withoutNull(field_schema as FieldSchema), `${flag.name}.`)]
  })
}

/** Names of the rows' scalar fields, in schema order. */
export function scalarFieldNames(page: TSchema, list: string): string[] {
  const { items } = ((page as FieldSchema).properties?.[list] ?? {}) as FieldSchema
  return fieldsOf(items ?? {}, '')
    .filter(({ name, kind }) => !name.includes('.') && kind !== 'object' && kind !== 'list')
    .map(({ name }) => name)
}

/** The schema without its null alternative. */
const withoutNull = (schema: FieldSchema): FieldSchema =>
  schema.anyOf?.find(({ type }) => type !== 'null') ?? schema

function flagOf(name: string, schema: FieldSchema, isRequired: boolean): Flag {
  const bare = withoutNull(schema)
  return {
    name,
    kind: kindOf(bare),
    isNullable: schema.anyOf?.some(({ type }) => type === 'null') ?? false,
    isRequired,
    description: schema.description ?? bare.description ?? '',
    choices: bare.enum ?? bare.items?.enum ?? [],
    example: (schema.examples ?? bare.examples)?.[0] ?? bare.enum?.[0],
  }
}

function kindOf({ type, properties, patternProperties }: FieldSchema): Flag['kind'] {
  if (properties !== undefined || patternProperties !== undefined) return 'object'
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'boolean') return 'boolean'
  return type === 'array' ? 'list' : 'text'
}

/** Converts text to the type of the field. The service validates the value itself. */
export function parseFlagValue({ name, kind, isNullable }: Flag, typed: string): unknown {
  if (isNullable && typed === 'null') return null
  if (kind === 'number') return parseNumber(name, typed)
  if (kind === 'boolean') return parseBoolean(name, typed)
  if (kind === 'object') return parseJson(name, typed)
  if (kind !== 'list') return typed
  if (typed.startsWith('[')) return parseJson(name, typed)
  return typed === '' ? [] : typed.split(',').map((each) => each.trim())
}

function parseNumber(name: string, typed: string): number {
  if (/^-?\d+(\.\d+)?$/.test(typed)) return Number(typed)
  throw new UsageError(`--${name} must be a number (got "${typed}").`)
}

function parseBoolean(name: string, typed: string): boolean {
  if (typed === 'true' || typed === 'false') return typed === 'true'
  throw new UsageError(`--${name} must be true or false (got "${typed}").`)
}

export function parseJson(name: string, typed: string): unknown {
  try {
    return JSON.parse(typed)
  } catch (cause) {
    throw new UsageError(`--${name} is not valid JSON: ${(cause as Error).message}.`)
  }
}

/** Sets a field or a nested field: `limits.daily_usd` sets `daily_usd` in the object `limits`. */
export function setField(input: Record<string, unknown>, name: string, value: unknown): void {
  const [field = '', ...rest] = name.split('.')
  if (rest.length === 0) {
    input[field] = value
    return
  }
  const inner = { ...(input[field] as Record<string, unknown> | undefined) }
  setField(inner, rest.join('.'), value)
  input[field] = inner
}
