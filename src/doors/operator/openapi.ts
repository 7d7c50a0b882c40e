import type { TSchema } from 'typebox'
import { inputLocation, pathNames, takesIdempotencyKey } from '#contract/operation.ts'
import type { OperatorOperation } from '#contract/operator/operation.ts'
import { operator_operations } from '#contract/operator/operations.ts'
import { ErrorBody } from '#contract/shapes.ts'

type Json = Record<string, unknown>

/** The OpenAPI 3.1 description of the operator API, from the contract. */
export function operatorOpenApi(public_url: string): Json {
  const paths: Record<string, Json> = {}
  for (const operation of Object.values<OperatorOperation>(operator_operations)) {
    const { path, method } = operation
    paths[path] = { ...paths[path], [method.toLowerCase()]: describe(operation) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Florin operator API',
      version: '1.0.0',
      description:
        'For operators of the card program. `florin operator create` creates tokens. Each has a ' +
        'role: viewer, support, risk or admin, and may also do what the roles before it may. ' +
        'Every action is recorded, and appears in the audit log of the account it concerns.',
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: `${public_url}/operator/v1` }],
    security: [{ operator: [] }],
    paths,
    components: {
      securitySchemes: { operator: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: plain(ErrorBody) },
    },
  }
}

function describe(operation: OperatorOperation): Json {
  const in_path = pathNames(operation.path)
  const required = (operation.input as { required?: string[] }).required ?? []
  const fields = Object.entries<TSchema>(operation.input.properties)
  const inQuery = (name: string) => !in_path.includes(name) && inputLocation(operation) === 'query'
  const parameters = fields
    .filter(([name]) => in_path.includes(name) || inQuery(name))
    .map(([name, schema]) => parameterOf(name, schema, { in_path, required }))
  const body =
    inputLocation(operation) === 'body' ? fields.filter(([name]) => !in_path.includes(name)) : []
  return {
    operationId: operation.name,
    summary: operation.summary,
    description: `Requires the ${operation.access.operator} role.`,
    parameters: takesIdempotencyKey(operation) ? [...parameters, idempotencyKey] : parameters,
    ...(body.length > 0 && { requestBody: bodyOf(body, required) }),
    responses: {
      200: { description: 'Success.', content: contentOf(operation) },
      default: refusal,
    },
  }
}

/** An evidence file is sent as its bytes. */
function contentOf({ name, output }: OperatorOperation): Json {
  if (name === 'operator_get_evidence') return { 'application/octet-stream': {} }
  return { 'application/json': { schema: plain(output) } }
}

const refusal: Json = {
  description: 'Error.',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
}

const idempotencyKey: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

function parameterOf(
  name: string,
  schema: TSchema,
  { in_path, required }: { in_path: readonly string[]; required: readonly string[] },
): Json {
  const place = in_path.includes(name) ? 'path' : 'query'
  const { description = '', ...rest } = plain(schema)
  return { name, in: place, required: required.includes(name), description, schema: rest }
}

function bodyOf(fields: readonly [string, TSchema][], required: readonly string[]): Json {
  const needed = required.filter((name) => fields.some(([field]) => field === name))
  const schema = {
    type: 'object',
    ...(needed.length > 0 && { required: needed }),
    properties: Object.fromEntries(fields.map(([name, field]) => [name, plain(field)])),
    additionalProperties: false,
  }
  return { required: needed.length > 0, content: { 'application/json': { schema } } }
}

/** As plain JSON, without the extensions that only our own checks read. */
function plain(schema: object): Json {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key.startsWith('x-') ? undefined : value,
  )
  return JSON.parse(text) as Json
}
