/** A schema as far as an example is made of it. */
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

const plain: Readonly<Record<string, unknown>> = {
  string: 'text',
  boolean: true,
  null: null,
  object: {},
}

/** An answer as it could be, made of the examples that the contract gives of each field. */
export function exampleOf(schema: object): unknown {
  const { examples, enum: words, anyOf, items, properties, type = 'object' } = schema as Schema
  if (examples?.[0] !== undefined) return examples[0]
  if ('const' in schema) return schema.const
  if ('default' in schema) return schema.default
  if (words?.[0] !== undefined) return words[0]
  if (anyOf?.[0] !== undefined) return exampleOf(anyOf[0])
  if (items !== undefined) return [exampleOf(items)]
  if (properties !== undefined) {
    const members = Object.entries(properties).map(([name, field]) => [name, exampleOf(field)])
    return Object.fromEntries(members)
  }
  if (type === 'number' || type === 'integer') return (schema as Schema).minimum ?? 1
  return plain[type]
}
