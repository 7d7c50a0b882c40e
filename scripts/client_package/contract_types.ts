import type { TSchema } from 'typebox'
import type { OperationShape } from '#contract/operation.ts'
import { operations } from '#contract/operations.ts'
import { problem_statuses } from '#contract/problem.ts'
import { named_schemas, schemaNameOf } from '#doors/site/openapi_schemas.ts'

/** The parts of a JSON schema that determine its type. */
type JsonSchema = {
  type?: string
  enum?: readonly string[]
  anyOf?: readonly TSchema[]
  items?: TSchema
  properties?: Readonly<Record<string, TSchema>>
  required?: readonly string[]
  patternProperties?: Readonly<Record<string, TSchema>>
  description?: string
}

const shapes: readonly OperationShape[] = Object.values(operations)

/**
 * Writes out the contract types that the client uses, so that editors show the contract's
 * descriptions and users need no schema library.
 */
export function contractTypes(): string {
  return [
    ...Object.entries(named_schemas).map(
      ([name, schema]) => `${commentOf(schema)}export type ${name} = ${bodyOf(schema, '')}`,
    ),
    recordOf('Inputs', (shape) => typeOf(shape.input, '  ')),
    recordOf('Outputs', (shape) => typeOf(shape.output, '  ')),
    tableOf('operations', ({ status, description }) => [description, `status: ${status}`]),
    tableOf('routes', ({ paged }) => ['', `paged: ${paged === true}`]),
    `export type Route = { method: 'GET' | 'POST' | 'PATCH' | 'DELETE'; path: string }`,
    'export type OperationName = keyof Inputs',
    'export type InputOfName<Name extends OperationName> = Inputs[Name]',
    'export type OutputOfName<Name extends OperationName> = Outputs[Name]',
    `export type ProblemCode =\n${Object.keys(problem_statuses)
      .map((code) => `  | '${code}'`)
      .join('\n')}`,
    '',
  ].join('\n\n')
}

/** Declares a table of the contract with the fields that the client's types use. */
function tableOf(table: string, write: (shape: OperationShape) => [string, string]): string {
  const members = shapes.map((shape) => {
    const [comment, field] = write(shape)
    const above = comment === '' ? '' : `  /** ${comment} */\n`
    return `${above}  readonly ${shape.name}: { readonly ${field} }`
  })
  return `export declare const ${table}: {\n${members.join('\n')}\n}`
}

function recordOf(name: string, write: (shape: OperationShape) => string): string {
  const members = shapes.map((shape) => `  ${shape.name}: ${write(shape)}`)
  return `export type ${name} = {\n${members.join('\n')}\n}`
}

const commentOf = (schema: unknown, indent = ''): string => {
  const { description } = schema as JsonSchema
  return description === undefined ? '' : `/** ${description} */\n${indent}`
}

/** Named schemas are referenced by name. */
function typeOf(schema: TSchema, indent: string): string {
  return schemaNameOf(schema) ?? bodyOf(schema, indent)
}

function bodyOf(schema: TSchema, indent: string): string {
  const json_schema = schema as JsonSchema
  if (json_schema.anyOf !== undefined) {
    return json_schema.anyOf.map((each) => typeOf(each, indent)).join(' | ')
  }
  if (json_schema.enum !== undefined) return json_schema.enum.map((word) => `'${word}'`).join(' | ')
  if (json_schema.items !== undefined) return `(${typeOf(json_schema.items, indent)})[]`
  const [values] = Object.values(json_schema.patternProperties ?? {})
  if (values !== undefined) return `Record<string, ${typeOf(values, indent)}>`
  if (json_schema.properties !== undefined) return objectOf(json_schema, indent)
  return scalar_types[json_schema.type ?? ''] ?? 'unknown'
}

const scalar_types: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
}

function objectOf({ properties = {}, required = [] }: JsonSchema, indent: string): string {
  const inner = `${indent}  `
  const members = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?'
    return `${inner}${commentOf(schema, inner)}${name}${mark}: ${typeOf(schema, inner)}`
  })
  return members.length === 0 ? '{}' : `{\n${members.join('\n')}\n${indent}}`
}
