import type { TSchema } from 'typebox'
import { html, type Markup } from '#doors/markup.ts'
import { schemaNameOf } from '#doors/site/openapi_schemas.ts'
import { inline } from './markdown_inline.ts'

/** A schema as far as these pages look into it. */
type Schema = {
  type?: string
  description?: string
  enum?: readonly string[]
  anyOf?: readonly Schema[]
  items?: Schema
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  maxItems?: number
  default?: unknown
}

export type Field = {
  name: string
  type: Markup
  required: boolean
  description: string
  notes: string[]
}

type Walk = {
  /** Objects that have a page of their own are named; otherwise every field of them is listed. */
  naming: boolean
  /** What stands before the name of a field within a field. */
  prefix?: string
  leave_out?: readonly string[]
}

/** The fields of an object, those of objects within it by their full name. */
export function fieldsOf(schema: TSchema, walk: Walk): Field[] {
  return walkFields(schema as Schema, walk)
}

function walkFields(schema: Schema, walk: Walk): Field[] {
  const { naming, prefix = '', leave_out = [] } = walk
  return Object.entries(schema.properties ?? {})
    .filter(([name]) => !leave_out.includes(name))
    .flatMap(([name, field]) => {
      const inner = insideOf(field)
      const own: Field = {
        name: prefix + name,
        type: typeOf(field, naming),
        required: (schema.required ?? []).includes(name),
        description: descriptionOf(field),
        notes: notesOf(field),
      }
      if (inner === null || (naming && schemaNameOf(inner.schema) !== undefined)) return [own]
      return [own, ...walkFields(inner.schema, { naming, prefix: `${own.name}${inner.mark}.` })]
    })
}

/** The object that a field is, is a list of, or is unless it is null. */
function insideOf(field: Schema): { schema: Schema; mark: string } | null {
  const given = givenOf(field)
  if (given.properties !== undefined) return { schema: given, mark: '' }
  const item = given.items === undefined ? undefined : givenOf(given.items)
  return item?.properties === undefined ? null : { schema: item, mark: '[]' }
}

const isNull = ({ type }: Schema) => type === 'null'

function givenOf(field: Schema): Schema {
  const others = (field.anyOf ?? []).filter((each) => !isNull(each))
  return others.length === 1 && others[0] !== undefined ? others[0] : field
}

function typeOf(field: Schema, naming: boolean): Markup {
  const name = naming ? schemaNameOf(field) : undefined
  if (name !== undefined) return html`<a href="/docs/objects#${name}">${name}</a>`
  if (field.anyOf !== undefined) {
    const types = field.anyOf.map((each) => typeOf(each, naming))
    return html`${types.map((type, at) => (at === 0 ? type : html` or ${type}`))}`
  }
  if (field.items !== undefined) return html`list of ${typeOf(field.items, naming)}`
  return html`${field.type ?? 'any'}`
}

function descriptionOf(field: Schema): string {
  return field.description ?? givenOf(field).description ?? ''
}

function notesOf(field: Schema): string[] {
  const given = givenOf(field)
  const words = given.enum ?? (given.items === undefined ? undefined : given.items.enum)
  const notes: string[] = []
  if (words !== undefined) notes.push(`One of ${words.map((word) => `\`${word}\``).join(', ')}.`)
  const { minimum: low, maximum: high } = given
  if (low !== undefined && high !== undefined) notes.push(`From ${low} to ${high}.`)
  if (given.maxLength !== undefined) notes.push(`At most ${given.maxLength} characters.`)
  if (given.maxItems !== undefined) notes.push(`At most ${given.maxItems}.`)
  if (given.default !== undefined) notes.push(`Default \`${JSON.stringify(given.default)}\`.`)
  return notes
}

/** A list of terms and not a table: it has room for its sentences on a narrow screen. */
export function fieldList(
  fields: readonly Field[],
  options: { id: string; input: boolean },
): Markup {
  return html`<dl class="fields">${fields.map(({ name, type, required, description, notes }) => {
    const id = `${options.id}.${name}`
    const text = [description, ...notes].filter((each) => each !== '').join(' ')
    return html`<div id="${id}"><dt><a class="name" href="#${id}"><code>${name}</code></a>
<span class="type">${type}</span>${
      options.input && required && html` <span class="required">required</span>`
    }</dt><dd>${inline(text, () => null)}</dd></div>`
  })}</dl>`
}
