import type { TSchema } from 'typebox'
import type { OperationShape } from '#contract/operation.ts'

/** An input field of a form, derived from the contract's schema. */
export type Field = {
  name: string
  is_required: boolean
  description: string
  example: string
} & (
  | { kind: 'text' | 'secret' | 'number' | 'list' | 'json' }
  | { kind: 'choice'; choices: readonly string[] }
)

export type FormValues = Readonly<Record<string, string>>

/** The part of JSON Schema that the contract's inputs use. */
type JsonSchema = TSchema & {
  type?: string
  enum?: string[]
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  anyOf?: JsonSchema[]
  description?: string
  examples?: unknown[]
  default?: unknown
}

export function inputFields({ input }: OperationShape): Field[] {
  const required = (input.required ?? []) as readonly string[]
  return Object.entries(input.properties as Record<string, JsonSchema>).map(([name, schema]) => ({
    name,
    is_required: required.includes(name),
    description: schema.description ?? '',
    example: formatExample(schema),
    ...fieldKind(name, schema),
  }))
}

function fieldKind(name: string, schema: JsonSchema) {
  if (schema.enum !== undefined) return { kind: 'choice' as const, choices: schema.enum }
  if (schema.type === 'boolean') return { kind: 'choice' as const, choices: ['true', 'false'] }
  if (schema.type === 'number' || schema.type === 'integer') return { kind: 'number' as const }
  if (schema.type === 'array' && schema.items?.type === 'string') return { kind: 'list' as const }
  if (schema.type !== 'string') return { kind: 'json' as const }
  return { kind: name.includes('password') ? ('secret' as const) : ('text' as const) }
}

function formatExample(schema: JsonSchema): string {
  const example = exampleValue(schema)
  if (example === undefined) return ''
  if (Array.isArray(example)) return example.join(', ')
  return typeof example === 'object' ? JSON.stringify(example) : String(example)
}

/** The schema's example or default, or an object of its properties' examples. */
function exampleValue(schema: JsonSchema): unknown {
  const { examples, default: standard, properties, anyOf } = schema
  const own = examples?.[0] ?? standard ?? anyOf?.map(exampleValue)[0]
  if (own !== undefined || properties === undefined) return own
  const parts = Object.entries(properties).map(([name, part]) => [name, exampleValue(part)])
  return Object.fromEntries(parts.filter(([, value]) => value !== undefined))
}

/**
 * Converts text to the field's type; undefined if it is empty. Text that cannot be converted is
 * sent unchanged, so that the response shows the validation error an API client would get.
 */
export function parseFieldValue(field: Field, text: string): unknown {
  if (text.trim() === '') return undefined
  switch (field.kind) {
    case 'number':
      return Number.isNaN(Number(text)) ? text : Number(text)
    case 'list':
      return text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '')
    case 'choice':
      return field.choices.includes('true') ? text === 'true' : text
    case 'json':
      return parseJson(text)
    default:
      return text
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
