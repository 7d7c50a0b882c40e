import type { TSchema } from 'typebox'
import { html, type Markup } from '#doors/markup.ts'
import { schemaNameOf } from '#doors/site/openapi_schemas.ts'
import { renderInline } from './markdown.ts'

/** The parts of a JSON schema that the docs show. */
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

type FieldOptions = {
  /** Links to objects that have their own entry, instead of listing their fields. */
  link_objects: boolean
  /** The path of the enclosing field. */
  prefix?: string
  leave_out?: readonly string[]
}

/** Fields of nested objects are listed with their full path. */
export function fieldsOf(schema: TSchema, options: FieldOptions): Field[] {
  return walkFields(schema as Schema, options)
}

function walkFields(schema: Schema, options: FieldOptions): Field[] {
  const { link_objects, prefix = '', leave_out = [] } = options
  return Object.entries(schema.properties ?? {})
    .filter(([name]) => !leave_out.includes(name))
    .flatMap(([name, field]) => {
      const inner = nestedObject(field)
      const own: Field = {
        name: prefix + name,
        type: typeOf(field, link_objects),
        required: (schema.required ?? []).includes(name),
        description: descriptionOf(field),
        notes: notesOf(field),
      }
      if (inner === null || (link_objects && schemaNameOf(inner.schema) !== undefined)) return [own]
      return [
        own,
        ...walkFields(inner.schema, { link_objects, prefix: `${own.name}${inner.suffix}.` }),
      ]
    })
}

/** The object inside a field that is an object, a nullable object or a list of objects. */
function nestedObject(field: Schema): { schema: Schema; suffix: string } | null {
  const schema = nonNullSchema(field)
  if (schema.properties !== undefined) return { schema, suffix: '' }
  const item = schema.items === undefined ? undefined : nonNullSchema(schema.items)
  return item?.properties === undefined ? null : { schema: item, suffix: '[]' }
}

const isNull = ({ type }: Schema) => type === 'null'

function nonNullSchema(field: Schema): Schema {
  const others = (field.anyOf ?? []).filter((each) => !isNull(each))
  return others.length === 1 && others[0] !== undefined ? others[0] : field
}

function typeOf(field: Schema, link_objects: boolean): Markup {
  const name = link_objects ? schemaNameOf(field) : undefined
  if (name !== undefined) return html`<a href="/docs/objects#${name}">${name}</a>`
  if (field.anyOf !== undefined) {
    const types = field.anyOf.map((each) => typeOf(each, link_objects))
    return html`${types.map((type, at) => (at === 0 ? type : html` or ${type}`))}`
  }
  if (field.items !== undefined) return html`list of ${pluralOf(field.items, link_objects)}`
  return html`${field.type ?? 'any'}`
}

/** "strings", but "Card", "string or null" and "list of …" as they are. */
function pluralOf(item: Schema, link_objects: boolean): Markup {
  const isPlain = item.anyOf === undefined && item.items === undefined && item.type !== undefined
  const hasName = link_objects && schemaNameOf(item) !== undefined
  return html`${typeOf(item, link_objects)}${isPlain && !hasName && 's'}`
}

function descriptionOf(field: Schema): string {
  return field.description ?? nonNullSchema(field).description ?? ''
}

function notesOf(field: Schema): string[] {
  const schema = nonNullSchema(field)
  const values = schema.enum ?? (schema.items === undefined ? undefined : schema.items.enum)
  const notes: string[] = []
  if (values !== undefined)
    notes.push(`One of ${values.map((value) => `\`${value}\``).join(', ')}.`)
  const { minimum: low, maximum: high } = schema
  if (low !== undefined && high !== undefined) notes.push(`From ${low} to ${high}.`)
  if (schema.maxLength !== undefined) notes.push(`At most ${schema.maxLength} characters.`)
  if (schema.maxItems !== undefined) notes.push(`At most ${schema.maxItems}.`)
  const standard = schema.default
  if (standard !== undefined)
    notes.push(`Default \`${typeof standard === 'string' ? standard : JSON.stringify(standard)}\`.`)
  return notes
}

/** A definition list, because a table leaves no room for sentences on a narrow screen. */
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
    }</dt><dd>${renderInline(text)}</dd></div>`
  })}</dl>`
}
