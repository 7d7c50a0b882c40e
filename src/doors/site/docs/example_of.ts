/** The parts of a JSON schema that an example is built from. */
type Schema = {
  type?: string
  const?: unknown
  enum?: readonly unknown[]
  examples?: readonly unknown[]
  default?: unknown
  anyOf?: readonly Schema[]
  items?: Schema
  properties?: Readonly<Record<string, Schema>>
  minimum?: number
}

const defaults: Readonly<Record<string, unknown>> = {
  string: 'text',
  boolean: true,
  null: null,
  object: {},
}

/** A realistic value, built from the contract's example of each field. */
export function exampleOf(schema: object): unknown {
  const { examples, enum: values, anyOf, items, properties, type = 'object' } = schema as Schema
  if (examples?.[0] !== undefined) return examples[0]
  if ('const' in schema) return schema.const
  if ('default' in schema) return schema.default
  if (values?.[0] !== undefined) return values[0]
  if (anyOf?.[0] !== undefined) return exampleOf(anyOf[0])
  if (items !== undefined) return [exampleOf(items)]
  if (properties !== undefined) {
    const members = Object.entries(properties).map(([name, field]) => [name, exampleOf(field)])
    return Object.fromEntries(members)
  }
  if (type === 'number' || type === 'integer') return (schema as Schema).minimum ?? 1
  return defaults[type]
}
