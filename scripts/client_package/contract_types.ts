import type { TSchema } from 'typebox'
import type { OperationShape } from '#contract/operation.ts'
import { operations } from '#contract/operations.ts'
import { problem_statuses } from '#contract/problem.ts'
import { named_schemas, schemaNameOf } from '#doors/site/openapi_schemas.ts'

/** As much of a JSON schema as its type needs. */
type Facts = {
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
 * The types that the client takes from the contract, written out: whoever installs the package has
 * the words of the contract in the editor, and needs no schema library.
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

/** A table of the contract, as far as the client's types read it. */
function tableOf(table: string, write: (shape: OperationShape) => [string, string]): string {
  const members = shapes.map((shape) => {
    const [comment, fact] = write(shape)
    const above = comment === '' ? '' : `  /** ${comment} */\n`
    return `${above}  readonly ${shape.name}: { readonly ${fact} }`
  })
  return `export declare const ${table}: {\n${members.join('\n')}\n}`
}

function recordOf(name: string, write: (shape: OperationShape) => string): string {
  const members = shapes.map((shape) => `  ${shape.name}: ${write(shape)}`)
  return `export type ${name} = {\n${members.join('\n')}\n}`
}

const commentOf = (schema: unknown, indent = ''): string => {
  const { description } = schema as Facts
  return description === undefined ? '' : `/** ${description} */\n${indent}`
}

/** By name where it has one. */
function typeOf(schema: TSchema, indent: string): string {
  return schemaNameOf(schema) ?? bodyOf(schema, indent)
}

function bodyOf(schema: TSchema, indent: string): string {
  const facts = schema as Facts
  if (facts.anyOf !== undefined) {
    return facts.anyOf.map((each) => typeOf(each, indent)).join(' | ')
  }
  if (facts.enum !== undefined) return facts.enum.map((word) => `'${word}'`).join(' | ')
  if (facts.items !== undefined) return `(${typeOf(facts.items, indent)})[]`
  const [values] = Object.values(facts.patternProperties ?? {})
  if (values !== undefined) return `Record<string, ${typeOf(values, indent)}>`
  if (facts.properties !== undefined) return objectOf(facts, indent)
  return plain[facts.type ?? ''] ?? 'unknown'
}

const plain: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
}

function objectOf({ properties = {}, required = [] }: Facts, indent: string): string {
  const inner = `${indent}  `
  const members = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?'
    return `${inner}${commentOf(schema, inner)}${name}${mark}: ${typeOf(schema, inner)}`
  })
  return members.length === 0 ? '{}' : `{\n${members.join('\n')}\n${indent}}`
}
