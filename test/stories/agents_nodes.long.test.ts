import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { systemClock } from '#platform/runtime/clock.ts'
import { authorize, registerAgent } from '#test/support/agent.ts'
import { auditLog } from '#test/support/calls.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { rpc } from '#test/support/mcp.ts'
import { operate } from '#test/support/operator.ts'
import { openAccount } from '#test/support/people.ts'
import { freePort } from '#test/support/port.ts'
import { startTestService } from '#test/support/start.ts'

const database = await cloneDatabase()
const data_dir = await mkdtemp(join(tmpdir(), 'florin_nodes_'))
const port = String(await freePort())
const shared = { database_url: database.url, data_dir }
const env = { FLORIN_PUBLIC_URL: `http://127.0.0.1:${port}` }
const first = await startTestService({ ...shared, env: { ...env, FLORIN_PORT: port } })
/** While the second node's clock stands, the bearers that it remembers never expire. */
let stopped_ms: number | null = null
const real = systemClock()
const clock = { ...real, monotonic: () => stopped_ms ?? real.monotonic() }
const second = await startTestService({
  ...shared,
  env: { ...env, FLORIN_PORT: '0' },
  dependencies: { clock },
})
after(async () => {
  await database.drop()
  await rm(data_dir, { recursive: true, force: true })
})

const isIn = async (url: string, bearer: string) =>
  (await rpc(url, 'ping', {}, { bearer })).status === 200

test('a grant revoked on one node by the owner or an operator is forgotten by the other', async () => {
  const agent = await registerAgent(first.url)
  for (const revokes of ['owner', 'operator']) {
    const person = await openAccount(first.url)
    const { access_token } = await authorize(agent, person)
    const { body } = await send(second.url, 'GET', '/oauth/grants', { bearer: person.bearer })
    const [{ id }] = body['data']
    stopped_ms = real.monotonic()
    for (const { url } of [first, second]) assert(await isIn(url, access_token))
    const { status } =
      revokes === 'owner'
        ? await send(first.url, 'DELETE', `/oauth/grants/${id}`, { bearer: person.bearer })
        : await operate(first.url, 'POST', `/grants/${id}/revoke`)
    assert(status < 300)
    assert.equal(
      await isIn(first.url, access_token),
      false,
      'on this node when the response arrives',
    )
    const isOut = async () => !(await isIn(second.url, access_token))
    assert(await eventually(isOut, { within_ms: 10_000 }), `revoked by the ${revokes}`)
    stopped_ms = null
  }
})

test('a scope removed on one node is refused by the other, also with a token issued before', async () => {
  const agent = await registerAgent(first.url)
  const person = await openAccount(first.url)
  const asking = { scope: 'card:read system:read', resource: `${first.url}/v1` }
  const { access_token } = await authorize(agent, person, asking)
  const { body } = await send(first.url, 'GET', '/oauth/grants', { bearer: person.bearer })
  const path = `/oauth/grants/${body['data'][0].id}/scopes/card:read`
  const statusOn = async (url: string, called = '/v1/cards') =>
    (await send(url, 'GET', called, { bearer: access_token })).status
  stopped_ms = real.monotonic()
  for (const { url } of [first, second]) assert.equal(await statusOn(url), 200)
  const { status } = await send(first.url, 'DELETE', path, { bearer: person.bearer })
  assert.equal(status, 204)
  assert.equal(await statusOn(first.url), 403, 'on this node when the response arrives')
  assert(await eventually(async () => (await statusOn(second.url)) === 403, { within_ms: 10_000 }))
  assert.equal(await statusOn(second.url, '/v1/system/limits'), 200, 'the other scope stays')
  stopped_ms = null
})

test('a grant revoked on both nodes at the same time ends on both and is audited once', async () => {
  const agent = await registerAgent(first.url)
  const person = await openAccount(first.url)
  const { access_token } = await authorize(agent, person)
  const { body } = await send(first.url, 'GET', '/oauth/grants', { bearer: person.bearer })
  const path = `/oauth/grants/${body['data'][0].id}`
  const replies = await Promise.all(
    [first, second, first, second].map(({ url }) =>
      send(url, 'DELETE', path, { bearer: person.bearer }),
    ),
  )
  const statuses = replies.map(({ status }) => status)
  assert(statuses.includes(204))
  assert.deepEqual(
    statuses.filter((status) => status !== 204 && status !== 404),
    [],
  )
  for (const { url } of [first, second]) assert.equal(await isIn(url, access_token), false)
  const entries = await auditLog(second.url, person.bearer, '&action=oauth.revoked')
  assert.equal(entries.length, 1)
})
