import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
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
const second = await startTestService({ ...shared, env: { ...env, FLORIN_PORT: '0' } })
after(async () => {
  await database.drop()
  await rm(data_dir, { recursive: true, force: true })
})

const isIn = async (url: string, bearer: string) =>
  (await rpc(url, 'ping', {}, { bearer })).status === 200

/** Less than the 500 ms for which a node remembers a bearer, so the notification ended it. */
const NOTIFIED_MS = 400

test('a grant revoked on one node by the owner or an operator ends on the other node too', async () => {
  const agent = await registerAgent(first.url)
  for (const revokes of ['owner', 'operator']) {
    const person = await openAccount(first.url)
    const { access_token } = await authorize(agent, person)
    const { body } = await send(second.url, 'GET', '/oauth/grants', { bearer: person.bearer })
    const [{ id }] = body['data']
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
    assert(await eventually(isOut, { within_ms: NOTIFIED_MS }), `revoked by the ${revokes}`)
  }
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
  for (const { status } of replies) assert(status === 204 || status === 404, String(status))
  for (const { url } of [first, second]) assert.equal(await isIn(url, access_token), false)
  const entries = await auditLog(second.url, person.bearer, '&action=oauth.revoked')
  assert.equal(entries.length, 1)
})
