import type { TObject } from 'typebox'
import type { ProblemDetail } from '#contract/problem.ts'

type SchemaNode = {
  maxLength?: number
  maxProperties?: number
  contentEncoding?: string
  properties?: Record<string, SchemaNode>
  patternProperties?: Record<string, SchemaNode>
  items?: SchemaNode
  anyOf?: SchemaNode[]
}

/** Finds strings and objects larger than their schema allows, without scanning their content. */
export function overlongFields(schema: TObject, input: unknown): ProblemDetail[] {
  return walk(schema as SchemaNode, input, '')
}

function walk(schema: SchemaNode, value: unknown, field: string): ProblemDetail[] {
  if (typeof value === 'string') return judge(schema, value, field)
  if (typeof value !== 'object' || value === null) return []
  const alternatives = (schema.anyOf ?? []).flatMap((member) => walk(member, value, field))
  return [...alternatives, ...(Array.isArray(value) ? ofItems : ofMembers)(schema, value, field)]
}

/** For strings without their own limit, such as IDs: longer than any URL can be. */
const LENGTH_MAX = 16_384

/** With several alternatives, the largest limit applies. */
function judge(schema: SchemaNode, value: string, field: string): ProblemDetail[] {
  if (schema.contentEncoding !== undefined) return []
  const limits = [schema, ...(schema.anyOf ?? [])].flatMap(({ maxLength }) => maxLength ?? [])
  const limit = limits.length === 0 ? LENGTH_MAX : Math.max(...limits)
  // A character can be two UTF-16 code units; the validator counts characters.
  if (value.length <= limit * 2) return []
  return [{ field, message: `must not have more than ${limit} characters` }]
}

function ofItems({ items }: SchemaNode, value: object, field: string): ProblemDetail[] {
  if (items === undefined) return []
  return (value as unknown[]).flatMap((member, at) => walk(items, member, `${field}.${at}`))
}

function ofMembers(schema: SchemaNode, value: object, field: string): ProblemDetail[] {
  const { properties = {}, patternProperties = {}, maxProperties = Infinity } = schema
  if (Object.keys(value).length > maxProperties) {
    return [{ field, message: `must not have more than ${maxProperties} keys` }]
  }
  const [other] = Object.values(patternProperties)
  // Without a pattern only the schema's own names count, however many the input has.
  const names = other === undefined ? Object.keys(properties) : Object.keys(value)
  return names.flatMap((name) => {
    if (!Object.hasOwn(value, name)) return []
    const shape = Object.hasOwn(properties, name) ? properties[name] : other
    const member = (value as Record<string, unknown>)[name]
    return shape === undefined ? [] : walk(shape, member, field === '' ? name : `${field}.${name}`)
  })
}

/** Fields that contain encoded bytes. */
export function encodedFields(schema: TObject): string[] {
  const { properties = {} } = schema as SchemaNode
  return Object.keys(properties).filter((name) => properties[name]?.contentEncoding !== undefined)
}
