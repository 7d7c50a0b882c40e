import type { TSchema } from 'typebox'
import { inputLocation, type OperationShape, pathNames } from '#contract/operation.ts'
import type { operations } from '#contract/operations.ts'
import { pageQuery } from '#contract/shapes.ts'
import { expand, type Json, type JsonObject, refTo, schemaOrRef } from './openapi_schemas.ts'
import { request_examples } from './request_examples.ts'

export const takesIdempotencyKey = (shape: OperationShape) =>
  shape.method === 'POST' || shape.method === 'PATCH'

const headerParameter = (name: string, description: string, schema: JsonObject): JsonObject => ({
  name,
  in: 'header',
  required: false,
  description,
  schema,
})

export const shared_parameters: JsonObject = {
  ...Object.fromEntries(
    Object.entries(pageQuery).map(([name, schema]) => [name, queryParameter(name, schema, false)]),
  ),
  'Idempotency-Key': {
    ...headerParameter(
      'Idempotency-Key',
      'A unique value for each new action. A retry with the same key returns the first response; ' +
        'the same key with a different request is an error.',
      { type: 'string', minLength: 1, maxLength: 255 },
    ),
    example: '0d4b1f6e-5c1a-4c5e-9d0f-2f6f5a3f7a11',
  },
  'PAYMENT-SIGNATURE': headerParameter(
    'PAYMENT-SIGNATURE',
    'The payment (x402, base64 JSON), after a previous call returned 402.',
    { type: 'string' },
  ),
}

/** Moves the description and example from the schema to the parameter. */
function parameterOf(place: 'path' | 'query', name: string, schema: TSchema, required: boolean) {
  const { description = '', examples = [], ...rest } = expand(schema) as JsonObject
  const [example] = examples as Json[]
  return {
    name,
    in: place,
    required,
    description,
    schema: rest,
    ...(example !== undefined && { example }),
  } satisfies JsonObject
}

function queryParameter(name: string, schema: TSchema, required: boolean): JsonObject {
  return parameterOf('query', name, schema, required)
}

export function parametersOf(shape: OperationShape, variants: readonly OperationShape[]): Json[] {
  const in_path = pathNames(shape.path)
  const properties: Readonly<Record<string, TSchema>> = shape.input.properties
  const parameters: Json[] = in_path.map((name) =>
    parameterOf('path', name, propertyOf(shape, name), true),
  )
  if (inputLocation(shape) === 'query') {
    const required = requiredOf(shape)
    for (const [name, schema] of Object.entries(properties)) {
      if (in_path.includes(name)) continue
      parameters.push(queryOrShared(name, schema, required.includes(name)))
    }
  }
  for (const variant of variants) {
    for (const [name, schema] of Object.entries<TSchema>(variant.input.properties)) {
      if (name in properties) continue
      parameters.push(queryParameter(name, schema, false))
    }
  }
  if (shape.name === 'add_dispute_evidence') {
    for (const name of ['kind', 'file_name']) {
      const parameter = queryParameter(name, propertyOf(shape, name), false)
      parameters.push({ ...parameter, description: `For a raw body: ${parameter['description']}` })
    }
  }
  for (const [name, description] of Object.entries(shape.headers ?? {})) {
    parameters.push(headerParameter(name, description, { type: 'string' }))
  }
  if (takesIdempotencyKey(shape)) parameters.push(refTo('parameters', 'Idempotency-Key'))
  parameters.push(refTo('parameters', 'PAYMENT-SIGNATURE'))
  return parameters
}

function queryOrShared(name: string, schema: TSchema, required: boolean): JsonObject {
  const shared = Object.entries(pageQuery).some(([, known]) => known === schema)
  return shared ? refTo('parameters', name) : queryParameter(name, schema, required)
}

function propertyOf(shape: OperationShape, name: string): TSchema {
  const schema = shape.input.properties[name]
  if (schema === undefined) throw new Error(`${shape.name} has no ${name} in its input`)
  return schema
}

export const requiredOf = (shape: OperationShape): string[] => [
  ...((shape.input as { required?: string[] }).required ?? []),
]

/** The input without path parameters, as a body; null if nothing is left. */
export function bodyOf(shape: OperationShape): JsonObject | null {
  if (inputLocation(shape) !== 'body') return null
  const in_path = pathNames(shape.path)
  const fields = Object.entries<TSchema>(shape.input.properties).filter(
    ([name]) => !in_path.includes(name),
  )
  if (fields.length === 0) return null
  const required = requiredOf(shape).filter((name) => !in_path.includes(name))
  const schema: JsonObject = {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(fields.map(([name, field]) => [name, schemaOrRef(field)])),
    additionalProperties: false,
  }
  const json: JsonObject = { schema, examples: examplesOf(shape) }
  const content =
    shape.name === 'add_dispute_evidence'
      ? { ...uploadsOf(shape), 'application/json': json }
      : { 'application/json': json }
  return { required: required.length > 0, content }
}

function examplesOf(shape: OperationShape): JsonObject {
  const bodies: Readonly<Record<string, unknown>> =
    request_examples[shape.name as keyof typeof operations] ?? {}
  return Object.fromEntries(
    Object.entries(bodies).map(([name, value]) => [name, { value: expand(value) }]),
  )
}

/** Allowed evidence files. The type is detected from the content, not from the header. */
const evidence_types = ['application/pdf', 'image/png', 'image/jpeg', 'image/webp', 'text/plain']

/** Files are streamed, so these two encodings cannot be derived from the JSON input. */
function uploadsOf(shape: OperationShape): JsonObject {
  const form: JsonObject = {
    schema: {
      type: 'object',
      required: ['kind'],
      properties: {
        kind: schemaOrRef(propertyOf(shape, 'kind')),
        note: schemaOrRef(propertyOf(shape, 'note')),
        file: {
          type: 'string',
          description: 'The file.',
          contentMediaType: 'application/octet-stream',
        },
      },
      additionalProperties: false,
    },
    encoding: { file: { contentType: evidence_types.join(', ') } },
    examples: {
      receipt: { value: { kind: 'receipt', note: 'Paid in the store.', file: '%PDF-1.7 …' } },
    },
  }
  const raw = [...evidence_types, 'application/octet-stream'].map((type) => [
    type,
    { schema: { type: 'string', description: 'The file content.', contentMediaType: type } },
  ])
  return { 'multipart/form-data': form, ...Object.fromEntries(raw) }
}
