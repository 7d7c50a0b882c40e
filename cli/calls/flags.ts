import type { TObject, TSchema } from 'typebox'
import { UsageError } from '#cli/exit_codes.ts'
import { didYouMean, suggest } from '#cli/suggest.ts'

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
  pattern?: string
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

const rowFields = (page: TSchema, list: string): Flag[] => {
  const { items } = ((page as FieldSchema).properties?.[list] ?? {}) as FieldSchema
  return fieldsOf(items ?? {}, '')
}

/** Names of the rows' fields for CSV: an object's fields instead of itself, if they are known. */
export function csvFieldNames(page: TSchema, list: string): string[] {
  const fields = rowFields(page, list)
  const hasFields = (name: string) => fields.some((field) => field.name.startsWith(`${name}.`))
  return fields
    .filter(({ name, kind }) => kind !== 'object' || !hasFields(name))
    .map(({ name }) => name)
}

/** Names of the rows' scalar fields, in schema order. */
export function scalarFieldNames(page: TSchema, list: string): string[] {
  return rowFields(page, list)
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
    choices: bare.enum ?? bare.items?.enum ?? choicesIn(bare.pattern),
    example: (schema.examples ?? bare.examples)?.[0] ?? bare.enum?.[0],
  }
}

/** The values of a comma-separated filter are in its pattern: `^(a|b)(,(a|b))*$`. */
const choicesIn = (pattern = ''): string[] =>
  /^\^\((.+?)\)\(,\(\1\)\)\*\$$/.exec(pattern)?.[1]?.split('|') ?? []

function kindOf({ type, properties, patternProperties }: FieldSchema): Flag['kind'] {
  if (properties !== undefined || patternProperties !== undefined) return 'object'
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'boolean') return 'boolean'
  return type === 'array' ? 'list' : 'text'
}

/** Converts text to the type of the field. The service validates everything but the choices. */
export function parseFlagValue(flag: Flag, typed: string): unknown {
  const { name, kind, isNullable } = flag
  if (isNullable && typed === 'null') return null
  requireChoice(flag, typed)
  if (kind === 'number') return parseNumber(name, typed)
  if (kind === 'boolean') return parseBoolean(name, typed)
  if (kind === 'object') return parseJson(name, typed)
  if (kind !== 'list') return typed
  if (typed.startsWith('[')) return parseJson(name, typed)
  return typed === '' ? [] : typed.split(',').map((each) => each.trim())
}

function requireChoice({ name, choices }: Flag, typed: string): void {
  if (choices.length === 0 || typed.startsWith('[')) return
  const wrong = typed.split(',').find((each) => !choices.includes(each.trim()))
  if (wrong === undefined) return
  throw new UsageError(
    `--${name} cannot be "${wrong}" (allowed: ${choices.join(', ')}).` +
      didYouMean(suggest(wrong, choices)),
  )
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
