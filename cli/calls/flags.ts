import type { TObject, TSchema } from 'typebox'
import { UsageError } from '#cli/exit_codes.ts'

/** What a flag of a command is, read off the schema of the field it fills. */
export type Flag = {
  /** The field, or a field within one: `limits.daily_usd`. */
  name: string
  kind: 'text' | 'number' | 'boolean' | 'list' | 'object'
  isNullable: boolean
  isRequired: boolean
  description: string
  words: readonly string[]
  example: unknown
}

/** As much of a JSON schema as a flag needs to know. */
type Facts = {
  type?: string
  enum?: readonly string[]
  anyOf?: readonly Facts[]
  items?: Facts
  properties?: Readonly<Record<string, TSchema>>
  required?: readonly string[]
  patternProperties?: unknown
  description?: string
  default?: unknown
  examples?: readonly unknown[]
}

/** A flag for each field, and for each field within a field: nobody likes to type JSON. */
export function flagsOf(input: TObject, without: readonly string[] = []): Flag[] {
  return fieldsOf(input, '').filter(({ name }) => !without.includes(name))
}

function fieldsOf(schema: Facts, prefix: string): Flag[] {
  return Object.entries(schema.properties ?? {}).flatMap(([field, given]) => {
    const isRequired = prefix === '' && (schema.required ?? []).includes(field)
    const flag = flagOf(prefix + field, given as Facts, isRequired)
    return [flag, ...fieldsOf(bareOf(given as Facts), `${flag.name}.`)]
  })
}

/** Fields of the rows of a list that have one value each, in the order of their shape. */
export function plainFieldsOf(page: TSchema, list: string): string[] {
  const { items } = ((page as Facts).properties?.[list] ?? {}) as Facts
  return fieldsOf(items ?? {}, '')
    .filter(({ name, kind }) => !name.includes('.') && kind !== 'object' && kind !== 'list')
    .map(({ name }) => name)
}

/** A schema that may also be null, without the null. */
const bareOf = (given: Facts): Facts => given.anyOf?.find(({ type }) => type !== 'null') ?? given

function flagOf(name: string, given: Facts, isRequired: boolean): Flag {
  const bare = bareOf(given)
  return {
    name,
    kind: kindOf(bare),
    isNullable: given.anyOf?.some(({ type }) => type === 'null') ?? false,
    isRequired,
    description: given.description ?? bare.description ?? '',
    words: bare.enum ?? bare.items?.enum ?? [],
    example: (given.examples ?? bare.examples)?.[0] ?? bare.enum?.[0],
  }
}

function kindOf({ type, properties, patternProperties }: Facts): Flag['kind'] {
  if (properties !== undefined || patternProperties !== undefined) return 'object'
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'boolean') return 'boolean'
  return type === 'array' ? 'list' : 'text'
}

/** What was typed, as the field takes it. The service judges the value; here only its kind. */
export function typedValue({ name, kind, isNullable }: Flag, typed: string): unknown {
  if (isNullable && typed === 'null') return null
  if (kind === 'number') return numberIn(name, typed)
  if (kind === 'boolean') return booleanIn(name, typed)
  if (kind === 'object') return jsonIn(name, typed)
  if (kind !== 'list') return typed
  if (typed.startsWith('[')) return jsonIn(name, typed)
  return typed === '' ? [] : typed.split(',').map((each) => each.trim())
}

function numberIn(name: string, typed: string): number {
  if (/^-?\d+(\.\d+)?$/.test(typed)) return Number(typed)
  throw new UsageError(`--${name} takes a number, and "${typed}" is none.`)
}

function booleanIn(name: string, typed: string): boolean {
  if (typed === 'true' || typed === 'false') return typed === 'true'
  throw new UsageError(`--${name} takes true or false, and not "${typed}".`)
}

export function jsonIn(name: string, typed: string): unknown {
  try {
    return JSON.parse(typed)
  } catch (cause) {
    throw new UsageError(`--${name} takes JSON: ${(cause as Error).message}.`)
  }
}

/** Puts a value where its name says: `limits.daily_usd` into the object `limits`. */
export function put(input: Record<string, unknown>, name: string, value: unknown): void {
  const [field = '', ...within] = name.split('.')
  if (within.length === 0) {
    input[field] = value
    return
  }
  const inner = { ...(input[field] as Record<string, unknown> | undefined) }
  put(inner, within.join('.'), value)
  input[field] = inner
}
