import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { inputLocation, type OperationShape, pathNames } from '#contract/operation.ts'
import { agentTools } from '#doors/agent_tools.ts'
import { openApiDocument } from '#doors/site/openapi.ts'
import { startAgentService } from '#test/support/agent.ts'
import { bodyOf, shapes } from '#test/support/contract.ts'
import { type Reply, type RequestOptions, send } from '#test/support/http.ts'
import { createKey, openAccount, PASSWORD } from '#test/support/people.ts'
import { corruptField, ODD_VALUES, seeded, validValue } from '#test/support/schema_inputs.ts'
import { seedAccount } from '#test/support/seeded_account.ts'

const SEED = Number(process.env['FLORIN_TEST_SEED'] ?? 20261115)
const ROUNDS = Number(process.env['FLORIN_TEST_LENGTH'] ?? 12)

const service = await startAgentService()
const { url, runtime } = service
const { person, ids } = await seedAccount(service)
const { key } = await createKey(url, person.bearer)
const document = openApiDocument({ public_url: runtime.settings.public_url })

type Response = { $ref?: string; description: string; content?: Record<string, { schema: object }> }

const known_ids: Readonly<Record<string, string>> = {
  cards: ids.card,
  transactions: ids.capture,
  disputes: ids.dispute,
  withdrawals: ids.withdrawal,
  webhooks: ids.webhook,
}

const MISSING = '01kc3z8e5xf8m9r4t2v6w7y8za'

/** References written out: the named schemas refer to each other, and none to itself. */
function resolved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(resolved)
  if (typeof value !== 'object' || value === null) return value
  const { $ref } = value as { $ref?: string }
  if ($ref !== undefined) {
    const [, , kind = '', name = ''] = $ref.split('/')
    return resolved(document.components[kind]?.[name])
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolved(member)]))
}

type DescribedResponses = { codes: string; check: ((body: unknown) => boolean) | null }

/** The documented responses of an operation, by status. */
function responsesOf({ path, method }: OperationShape): Map<string, DescribedResponses> {
  const entry = document.paths[path]?.[method.toLowerCase()]
  const responses = resolved(entry?.['responses']) as Record<string, Response>
  return new Map(
    Object.entries(responses).map(([status, { description, content }]) => {
      const schema = content?.['application/json']?.schema
      const validator = schema === undefined ? null : Compile(schema as TSchema)
      const check = validator === null ? null : (body: unknown) => validator.Check(body)
      return [status, { codes: description, check }]
    }),
  )
}

function assertDescribed(
  described: Map<string, DescribedResponses>,
  reply: Reply,
  what: string,
): void {
  const said = `${what}\n→ ${reply.status} ${reply.text.slice(0, 600)}`
  const response = described.get(String(reply.status))
  assert.ok(response !== undefined, `status is not described: ${said}`)
  if (reply.status >= 400) {
    assert.ok(
      response.codes.includes(`\`${reply.body['error']}\``),
      `code is not described: ${said}`,
    )
  }
  if (response.check === null) assert.equal(reply.text, '', said)
  else assert.ok(response.check(reply.body), `body is not as described: ${said}`)
  assert.ok(reply.status < 500 || reply.status === 503, said)
}

const random = seeded(SEED)

/** A known ID of the right kind, or an unknown one. */
function pathOf({ path }: OperationShape): string {
  return `/v1${path.replaceAll(/(\w+)\/\{\w+\}/g, (_, noun: string) => {
    const id = known_ids[noun]
    return `${noun}/${id !== undefined && random() < 0.7 ? id : `x_${MISSING}`}`
  })}`
}

async function bearerFor({ name, access }: OperationShape): Promise<string | undefined> {
  if (access === 'anyone') return undefined
  if (name !== 'sign_out') return access.session ? person.bearer : key
  const body = { email: person.email, password: PASSWORD }
  return (await send(url, 'POST', '/v1/sessions', { body })).body['bearer']
}

/** The requests of one round: well-formed, spoiled, and malformed in each way there is. */
function bodiesFor(operation: OperationShape): RequestOptions[] {
  const in_path = pathNames(operation.path)
  const ownFields = (input: object) =>
    Object.fromEntries(Object.entries(input).filter(([name]) => !in_path.includes(name)))
  const made = ownFields(validValue(operation.input, random) as object)
  const example = bodyOf(operation)
  const odd = JSON.stringify(ODD_VALUES[Math.floor(random() * ODD_VALUES.length)])
  return [
    { body: made },
    { body: made, key: `k-${random()}` },
    { body: example },
    { body: corruptField(example, operation.input, random) },
    { body: corruptField(made, operation.input, random) },
    { body: corruptField(example, operation.input, random), key: `k-${random()}` },
    { raw: odd },
    { body: example, key: ' not a key' },
    {},
    { raw: '' },
    { raw: '{"a":' },
    { raw: JSON.stringify(example), headers: { 'content-type': 'text/plain' } },
    { raw: Uint8Array.from([0xff, 0xfe]) },
    { raw: `${'['.repeat(300)}` },
  ]
}

function queriesFor(operation: OperationShape): string[] {
  const pairs = (input: object) =>
    new URLSearchParams(
      Object.entries(input)
        .filter(([name]) => !pathNames(operation.path).includes(name))
        .map(([name, value]): [string, string] => [name, String(value)]),
    ).toString()
  const made = validValue(operation.input, random) as Record<string, unknown>
  const spoilt = corruptField(made, operation.input, random)
  return ['', pairs(made), pairs(spoilt), 'zzz=1', 'limit=1&limit=2', 'cursor=x', 'limit=1e9']
}

let requests_sent = 0

async function drive(
  operation: OperationShape,
  described: Map<string, DescribedResponses>,
): Promise<void> {
  const bearer = await bearerFor(operation)
  const path = pathOf(operation)
  const requests: [string, RequestOptions][] =
    inputLocation(operation) === 'body'
      ? bodiesFor(operation).map((sent) => [path, sent])
      : queriesFor(operation).map((query) => [`${path}?${query}`, {}])
  requests.push([path, { bearer: 'flk_test_nobody' }], [path, { bearer: '' }])
  if (operation.access !== 'anyone') requests.push([path, { bearer: key }])
  for (const [at, sent] of requests) {
    const reply = await send(url, operation.method, at, { bearer, ...sent })
    requests_sent += 1
    const shown = JSON.stringify(sent.raw instanceof Uint8Array ? 'bytes' : sent).slice(0, 400)
    assertDescribed(described, reply, `${operation.method} ${at.slice(0, 300)} ${shown}`)
  }
}

for (const operation of shapes.filter(({ variant_of }) => variant_of === undefined)) {
  test(`${operation.name}: whatever is sent, the response is one that the description names`, async () => {
    const described = responsesOf(operation)
    for (let round = 0; round < ROUNDS; round += 1) await drive(operation, described)
  })
}

test('thousands of generated requests were sent', (t) => {
  t.diagnostic(`${requests_sent} requests, seed ${SEED}, 0 undocumented`)
  assert(requests_sent > ROUNDS * 600, String(requests_sent))
})

test('whatever a tool is called with, its result fits its output schema', async () => {
  const tools = agentTools(runtime.settings.x402)
  const headers = { accept: 'application/json, text/event-stream' }
  for (const operation of shapes) {
    const tool = tools.find(({ name }) => name === operation.name)
    assert(tool !== undefined)
    const output = Compile(tool.outputSchema as TSchema)
    for (let round = 0; round < ROUNDS; round += 1) {
      const made = validValue(operation.input, random) as Record<string, unknown>
      if (operation.name === 'revoke_api_key') made['id'] = 'key_x'
      for (const given of [made, corruptField(made, operation.input, random)]) {
        const params = { name: operation.name, arguments: given }
        const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
        const reply = await send(url, 'POST', '/mcp', { bearer: key, body, headers })
        const sent = `${operation.name} ${JSON.stringify(given).slice(0, 300)}`
        const said = `${sent} → ${reply.text.slice(0, 500)}`
        if (reply.status === 403) continue
        assert.equal(reply.status, 200, said)
        const result = readResult(reply)
        assert.ok(output.Check(result), said)
      }
    }
  }
})

function readResult({ text }: Reply): unknown {
  const last = text.trim().split('\n').at(-1) ?? ''
  const message = JSON.parse(last.replace(/^data: /, '')) as {
    result?: { structuredContent: unknown }
  }
  return message.result?.structuredContent
}

test('every event carries the object that its description names', async () => {
  const rows = await runtime.db.rows<{ type: string; body: string }>(
    'select type, body from events where body is not null',
  )
  const seen = new Set<string>()
  for (const { type, body } of rows) {
    seen.add(type)
    const post = (document.webhooks[type] as { post: { requestBody: object } }).post
    const { content } = resolved(post.requestBody) as {
      content: Record<string, { schema: object }>
    }
    const validator = Compile(content['application/json']?.schema as TSchema)
    assert.ok(validator.Check(JSON.parse(body)), `${type} ${body}`)
  }
  const expected = ['account.created', 'account.signed_in', 'card.issued', 'dispute.opened']
  for (const type of [...expected, 'topup.created', 'transaction.declined']) {
    assert.ok(seen.has(type), type)
  }
})

test('another account is described like everybody', async () => {
  const stranger = await openAccount(url)
  for (const operation of shapes.filter(({ path }) => path.includes('{'))) {
    const described = responsesOf(operation)
    const sent = inputLocation(operation) === 'body' ? { body: bodyOf(operation) } : {}
    const path = pathOf(operation)
    const reply = await send(url, operation.method, path, { bearer: stranger.bearer, ...sent })
    assertDescribed(described, reply, `${operation.method} ${path}`)
  }
})
