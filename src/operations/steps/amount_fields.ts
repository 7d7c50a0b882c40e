import type { TSchema } from 'typebox'

/** An input field with an amount, found by `x-decimals` in its schema. */
export type AmountField = { path: readonly string[]; decimals: number }

type SchemaNode = {
  'x-decimals'?: number
  properties?: Record<string, SchemaNode>
  anyOf?: SchemaNode[]
}

export function amountFields(schema: TSchema): AmountField[] {
  return walk(schema as SchemaNode, [])
}

function walk(schema: SchemaNode, path: readonly string[]): AmountField[] {
  if (schema['x-decimals'] !== undefined) return [{ path, decimals: schema['x-decimals'] }]
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
      walk(member, [...path, name]),
    ),
    ...(schema.anyOf ?? []).flatMap((member) => walk(member, path)),
  ]
}

type Place = { holder: Record<string, unknown>; name: string }

/** The object and key a path leads to in unvalidated input; null if it does not exist. */
export function placeOf(input: Record<string, unknown>, path: readonly string[]): Place | null {
  let holder = input
  for (const step of path.slice(0, -1)) {
    const next = holder[step]
    if (typeof next !== 'object' || next === null || Array.isArray(next)) return null
    holder = next as Record<string, unknown>
  }
  const name = path.at(-1)
  return name !== undefined && Object.hasOwn(holder, name) ? { holder, name } : null
}
