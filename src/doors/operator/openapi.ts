import type { TSchema } from 'typebox'
import { inputLocation, pathNames } from '#contract/operation.ts'
import { ErrorBody } from '#contract/shapes.ts'
import { calls } from './calls.ts'
import { isAct, type OperatorCall } from './operator_call.ts'

type Json = Record<string, unknown>

/** The OpenAPI 3.1 description of the operator's surface, read off its calls. */
export function operatorOpenApi(public_url: string): Json {
  const paths: Record<string, Json> = { '/disputes/{id}/evidence/{evidence_id}': { get: download } }
  for (const call of Object.values<OperatorCall>(calls)) {
    paths[call.path] = { ...paths[call.path], [call.method.toLowerCase()]: operationOf(call) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Florin: the operator',
      version: '1.0.0',
      description:
        'For those who run the programme. Tokens are made with `florin operator create` and have ' +
        'a role: viewer, support, risk or admin; each may do what those before it may. Every act ' +
        'is noted, and stands in the audit log of the account that it concerns.',
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

function operationOf(call: OperatorCall): Json {
  const in_path = pathNames(call.path)
  const required = (call.input as { required?: string[] }).required ?? []
  const fields = Object.entries<TSchema>(call.input.properties)
  const inQuery = (name: string) => !in_path.includes(name) && inputLocation(call) === 'query'
  const parameters = fields
    .filter(([name]) => in_path.includes(name) || inQuery(name))
    .map(([name, schema]) => parameterOf(name, schema, { in_path, required }))
  const body =
    inputLocation(call) === 'body' ? fields.filter(([name]) => !in_path.includes(name)) : []
  return {
    operationId: call.name,
    summary: call.summary,
    description: `Needs the role ${call.role}.`,
    parameters: isAct(call) ? [...parameters, idempotencyKey] : parameters,
    ...(body.length > 0 && { requestBody: bodyOf(body, required) }),
    responses: {
      200: {
        description: 'Done.',
        content: { 'application/json': { schema: plain(call.output) } },
      },
      default: refusal,
    },
  }
}

const refusal: Json = {
  description: 'Refused.',
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

const download: Json = {
  operationId: 'download_evidence',
  summary: 'A file of evidence, as an attachment.',
  description: 'Needs the role viewer.',
  parameters: ['id', 'evidence_id'].map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  })),
  responses: {
    200: { description: 'The bytes.', content: { 'application/octet-stream': {} } },
    default: refusal,
  },
}

/** As plain JSON, without the marks that only our own checks read. */
function plain(schema: object): Json {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key.startsWith('x-') ? undefined : value,
  )
  return JSON.parse(text) as Json
}
