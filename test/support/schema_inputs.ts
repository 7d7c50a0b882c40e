import type { TSchema } from 'typebox'

/** A seeded random number generator, so a run can be repeated. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

type Schema = {
  type?: string
  enum?: unknown[]
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  examples?: unknown[]
  minimum?: number
  maximum?: number
  maxItems?: number
  minLength?: number
  maxLength?: number
  format?: string
  pattern?: string
}

type Random = () => number

const pick = <Value>(random: Random, values: readonly Value[]): Value =>
  values[Math.floor(random() * values.length)] as Value

/** A value that matches the schema; for patterns it returns an example. */
export function validValue(given: TSchema, random: Random): unknown {
  const schema = given as Schema
  if (schema.anyOf !== undefined) return validValue(pick(random, schema.anyOf) as TSchema, random)
  if (schema.enum !== undefined) return pick(random, schema.enum)
  if (schema.properties !== undefined) return validObject(schema, random)
  if (schema.patternProperties !== undefined) return { order: 'A-1009' }
  switch (schema.type) {
    case 'string':
      return textOf(schema, random)
    case 'integer':
      return pick(random, [schema.minimum ?? 0, schema.maximum ?? 1_000, 1])
    case 'number':
      return pick(random, [0, 1, 5, 25.5, 100, 0.01, 49_999.99, 1_000_000])
    case 'boolean':
      return random() < 0.5
    case 'array':
      return Array.from({ length: Math.floor(random() * Math.min(3, schema.maxItems ?? 3)) }, () =>
        validValue((schema.items ?? {}) as TSchema, random),
      )
    default:
      return null
  }
}

function textOf({ examples, pattern, format, maxLength = 60 }: Schema, random: Random): unknown {
  if (pattern !== undefined || format !== undefined) return examples?.[0] ?? 'x'
  return pick(random, [
    ...(examples ?? []),
    'a',
    'ü😀 text',
    'x'.repeat(Math.min(maxLength, 5_000)),
  ])
}

function validObject({ properties = {}, required = [] }: Schema, random: Random): object {
  const names = Object.keys(properties).filter((name) => required.includes(name) || random() < 0.5)
  return Object.fromEntries(
    names.map((name) => [name, validValue(properties[name] as TSchema, random)]),
  )
}

/** Values that few or no schemas accept. */
export const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  '',
  'x'.repeat(20_000),
  'a\u0000b',
  -1,
  0.001,
  1e15,
  1e300,
  [],
  [null],
  {},
  { a: { b: 1 } },
  '\ud800',
  '2026-02-31T00:00:00Z',
  'not-a-value',
]

/** A copy with one field changed, removed or added. */
export function corruptField(
  object: Record<string, unknown>,
  schema: TSchema,
  random: Random,
): Record<string, unknown> {
  const names = Object.keys((schema as Schema).properties ?? {})
  const copy = structuredClone(object)
  const name = names.length === 0 ? 'zzz' : pick(random, [...names, 'zzz'])
  if (random() < 0.2) delete copy[name]
  else copy[name] = pick(random, ODD_VALUES)
  return copy
}
