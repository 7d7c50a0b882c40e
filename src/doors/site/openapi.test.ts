import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Compile } from 'typebox/compile'
import { parse } from 'yaml'
import { event_types, named_event_types } from '#contract/events.ts'
import { type OperationShape, pathNames } from '#contract/operation.ts'
import { operations } from '#contract/operations.ts'
import { problem_statuses } from '#contract/problem.ts'
import { scopes } from '#contract/scopes.ts'
import { root } from '#platform/runtime/root.ts'
import { openApiDocument, openApiYaml } from './openapi.ts'
import { problemsByStatus } from './openapi_responses.ts'
import type { JsonObject } from './openapi_schemas.ts'
import { request_examples } from './request_examples.ts'

const public_url = 'http://127.0.0.1:8080'
const document = openApiDocument({ public_url })
const shapes: readonly OperationShape[] = Object.values(operations)

type Parameter = { $ref?: string; name: string; in: string; required: boolean; example?: unknown }

function entryOf(shape: OperationShape): JsonObject {
  const entry = document.paths[shape.path]?.[shape.method.toLowerCase()]
  assert.ok(entry !== undefined, `${shape.name} has no entry`)
  return entry
}

const parametersOf = (shape: OperationShape): Parameter[] =>
  (entryOf(shape)['parameters'] as Parameter[]).map((parameter) => {
    const name = parameter.$ref?.split('/').at(-1)
    if (name === undefined) return parameter
    return document.components['parameters']?.[name] as Parameter
  })

/** Every object in the document, at any depth. */
function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield value as Record<string, unknown>
  for (const member of Object.values(value)) yield* objectsIn(member)
}

test('the committed openapi.json matches the contract', () => {
  const committed = readFileSync(join(root, 'openapi.json'), 'utf8')
  assert.ok(
    committed === `${JSON.stringify(document, null, 2)}\n`,
    'openapi.json is out of date: run npm run openapi',
  )
})

test('the linter reports no error and no warning', () => {
  const redocly = join(root, 'test/packages/node_modules/.bin/redocly')
  const lint = spawnSync(redocly, ['lint', 'openapi.json', '--format=json'], {
    cwd: root,
    encoding: 'utf8',
    // Without these the linter checks for updates and sends telemetry; a test makes no requests.
    env: {
      ...process.env,
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
      CI: 'true',
    },
  })
  assert.equal(lint.status, 0, lint.stdout + lint.stderr)
  const { totals } = JSON.parse(lint.stdout) as { totals: { errors: number; warnings: number } }
  assert.deepEqual([totals.errors, totals.warnings], [0, 0], lint.stdout)
})

/** Empty classes, look-arounds, back-references, `\u` and `\p` are not known everywhere. */
const NOT_PORTABLE = /\[\^?\]|\(\?(?!:)|\\[1-9cCkKpPuU]/

test('patterns mean the same to Python, Go and Java, whose clients compile them', () => {
  const patterns = [...objectsIn(document)].flatMap(({ pattern, patternProperties }) => [
    ...(typeof pattern === 'string' ? [pattern] : []),
    ...Object.keys(patternProperties ?? {}),
  ])
  assert.ok(patterns.length > 30)
  assert.deepEqual(
    patterns.filter((pattern) => NOT_PORTABLE.test(pattern)),
    [],
  )
})

test('each operation has an entry of its own, and each variant one in its base operation', () => {
  const entries = Object.values(document.paths).flatMap((item) => Object.values(item))
  assert.equal(entries.length, shapes.filter((shape) => shape.variant_of === undefined).length)
  for (const shape of shapes) {
    const entry = entryOf(shape)
    if (shape.variant_of === undefined) assert.equal(entry['operationId'], shape.name)
    else {
      assert.equal(entry['operationId'], shape.variant_of)
      assert.deepEqual(
        (entry['x-variants'] as JsonObject[]).map((variant) => variant['x-tool']),
        [shape.name],
      )
      assert.match(String(entry['description']), new RegExp(shape.name))
    }
  }
})

test('every input field can be sent in the path, the query or the body', () => {
  for (const shape of shapes) {
    const in_parameters = parametersOf(shape).map(({ name }) => name)
    const body = entryOf(shape)['requestBody'] as
      | { content: { 'application/json': { schema: { properties: object } } } }
      | undefined
    const in_body = Object.keys(body?.content['application/json'].schema.properties ?? {})
    for (const name of Object.keys(shape.input.properties)) {
      assert.ok([...in_parameters, ...in_body].includes(name), `${shape.name} ${name}`)
    }
  }
})

test('a parameter that only a variant requires is optional on the shared path', () => {
  const type = parametersOf(operations.get_activity).find(({ name }) => name === 'type')
  assert.deepEqual([type?.in, type?.required], ['query', false])
})

test('every POST and PATCH, and no other method, has an Idempotency-Key', () => {
  for (const shape of shapes) {
    const takes = parametersOf(shape).some(({ name }) => name === 'Idempotency-Key')
    assert.equal(takes, ['POST', 'PATCH'].includes(shape.method), shape.name)
  }
})

test('security lists the accepted credentials: none, a bearer, or a token with scopes', () => {
  const securityOf = (shape: OperationShape) => entryOf(shape)['security']
  assert.deepEqual(securityOf(operations.create_account), [])
  assert.deepEqual(securityOf(operations.get_audit_log), [{ bearer: [] }])
  assert.deepEqual(securityOf(operations.replace_card), [
    { bearer: [] },
    { oauth2: ['card:issue', 'card:control'] },
  ])
  assert.deepEqual(securityOf(operations.get_dispute), [
    { bearer: [] },
    { oauth2: ['dispute:write'] },
    { oauth2: ['transaction:read'] },
  ])
  for (const shape of shapes.filter(({ access }) => access !== 'anyone')) {
    assert.notDeepEqual(securityOf(shape), [], shape.name)
  }
})

test('the authorization server is this service, with the 14 scopes', () => {
  const oauth2 = document.components['securitySchemes']?.['oauth2'] as {
    flows: { authorizationCode: Record<string, unknown> }
  }
  const flow = oauth2.flows.authorizationCode
  assert.equal(flow['authorizationUrl'], `${public_url}/oauth/authorize`)
  assert.equal(flow['tokenUrl'], `${public_url}/oauth/token`)
  assert.deepEqual(flow['scopes'], scopes)
  assert.equal(Object.keys(scopes).length, 14)
})

test('an operation lists its success status and the status of each of its problems', () => {
  for (const shape of shapes.filter(({ variant_of }) => variant_of === undefined)) {
    const statuses = new Set(problemsByStatus(shape).keys())
    assert.deepEqual(
      Object.keys(entryOf(shape)['responses'] as object).toSorted(),
      [shape.status, ...statuses].map(String).toSorted(),
      shape.name,
    )
    for (const code of shape.problems ?? []) assert.ok(statuses.has(problem_statuses[code]))
  }
})

test('every request body has an example that is valid input of its operation', () => {
  for (const shape of shapes) {
    const body = entryOf(shape)['requestBody']
    const examples = request_examples[shape.name as keyof typeof operations]
    assert.equal(examples !== undefined, body !== undefined, shape.name)
    const in_path = Object.fromEntries(pathNames(shape.path).map((name) => [name, 'an_id']))
    const check = Compile(shape.input)
    for (const [name, example] of Object.entries(examples ?? {})) {
      assert.ok(check.Check({ ...in_path, ...example }), `${shape.name} ${name}`)
    }
  }
})

test('every path ID has an example', () => {
  for (const shape of shapes) {
    for (const parameter of parametersOf(shape)) {
      if (parameter.in === 'path') assert.match(String(parameter.example), /^[a-z]+_[0-9a-z]{26}$/)
    }
  }
})

test('evidence can be sent as a form, as raw bytes and as JSON', () => {
  const body = entryOf(operations.add_dispute_evidence)['requestBody'] as { content: object }
  const types = Object.keys(body.content)
  for (const type of ['multipart/form-data', 'application/octet-stream', 'application/json']) {
    assert.ok(types.includes(type), type)
  }
})

test('every reference resolves, and every named schema is used', () => {
  const used = new Set<string>()
  for (const { $ref } of objectsIn(document)) {
    if (typeof $ref !== 'string') continue
    const [, , kind = '', name = ''] = $ref.split('/')
    assert.ok(document.components[kind]?.[name] !== undefined, $ref)
    if (kind === 'schemas') used.add(name)
  }
  assert.deepEqual(
    Object.keys(document.components['schemas'] ?? {}).toSorted(),
    [...used].toSorted(),
  )
})

test('each of the 18 events, the added ones and the 3-D Secure challenge are described as webhooks', () => {
  assert.deepEqual(Object.keys(document.webhooks), [
    ...Object.keys(event_types),
    ...Object.keys(named_event_types),
    'three_ds.challenge',
  ])
})

test('the YAML and the JSON document are equal', () => {
  assert.deepEqual(parse(openApiYaml(document)), JSON.parse(JSON.stringify(document)))
})

test('every URL starts with the public URL, without a double slash', () => {
  const other = openApiDocument({ public_url: 'https://cards.example/', version: '1.0.1' })
  assert.deepEqual(other.servers[0]?.['url'], 'https://cards.example/v1')
  assert.equal(other.info['version'], '1.0.1')
  assert.equal(JSON.stringify(other).includes(public_url), false)
})
