import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorize, registerAgent, startAgentService } from '#test/support/agent.ts'
import { assertRefused, auditLog } from '#test/support/calls.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { florin } from '#test/support/florin_process.ts'
import { rpc } from '#test/support/mcp.ts'
import { operate } from '#test/support/operator.ts'

const service = await startAgentService()
const { url, database_url, data_dir } = service
const env = { FLORIN_DATABASE_URL: database_url, FLORIN_DATA_DIR: data_dir }
const agent = await registerAgent(url, { client_name: 'Shopping agent' })

type ListedGrant = { id: string; status: string; client_name: string; card_ids: string[] | null }
const isAccepted = async (bearer: string) => (await rpc(url, 'ping', {}, { bearer })).status === 200

async function listGrants(account_id: string): Promise<ListedGrant[]> {
  const { code, output } = await florin(['grants', 'list', '--account', account_id, '--json'], env)
  assert.equal(code, 0, output)
  return JSON.parse(output)
}

test('florin grants lists grants and revokes one while the service runs', async () => {
  const holder = await openHolder(service)
  const card = await issueCard(url, holder.key)
  const { access_token } = await authorize(agent, holder, {
    scope: 'card:read',
    cards: [card.id],
  })
  assert(await isAccepted(access_token))
  const [grant, ...others] = await listGrants(holder.account_id)
  assert(grant !== undefined)
  assert.deepEqual(others, [])
  assert.deepEqual(
    [grant.status, grant.client_name, grant.card_ids],
    ['active', 'Shopping agent', [card.id]],
  )
  const lines = await florin(['grants', 'list'], env)
  assert.match(lines.output, new RegExp(`^${grant.id}  active  .*Shopping agent.*card:read`, 'm'))

  const ended = await florin(['grants', 'revoke', grant.id], env)
  assert.equal(ended.code, 0, ended.output)
  assert.equal(await isAccepted(access_token), false)
  assert.equal((await listGrants(holder.account_id))[0]?.status, 'revoked')
  const [entry] = await auditLog(url, holder.bearer, '&action=oauth.revoked')
  assert.deepEqual([entry?.actor.type, entry?.resource?.id], ['operator', grant.id])

  const unknown = await florin(['grants', 'revoke', 'grant_01kc3z8e5xf8m9r4t2v6w7y8za'], env)
  assert.deepEqual([unknown.code, /There is no grant/.test(unknown.output)], [1, true])
})

test('operator calls list grants of all accounts or one, and revoke a grant once', async () => {
  const [holder, other] = [await openHolder(service), await openHolder(service)]
  const { access_token } = await authorize(agent, holder)
  await authorize(agent, other)
  const grants = async (query = '') => {
    const reply = await operate(url, 'GET', `/grants${query}`)
    assert.equal(reply.status, 200, reply.text)
    return reply.body['data'] as (ListedGrant & { account_id: string })[]
  }
  const accounts = (await grants()).map(({ account_id }) => account_id)
  assert(accounts.includes(holder.account_id) && accounts.includes(other.account_id))
  const [grant, ...more] = await grants(`?account_id=${holder.account_id}`)
  assert(grant !== undefined)
  assert.deepEqual(more, [])
  const in_force = `?account_id=${holder.account_id}&status=active`
  assert.equal((await grants(in_force)).length, 1)

  assert(await isAccepted(access_token))
  for (let turn = 0; turn < 2; turn += 1) {
    const reply = await operate(url, 'POST', `/grants/${grant.id}/revoke`)
    assert.deepEqual([reply.status, reply.body['status']], [200, 'revoked'], reply.text)
    assert.equal(await isAccepted(access_token), false)
  }
  assert.deepEqual(await grants(in_force), [])
  const entries = await auditLog(url, holder.bearer, '&action=oauth.revoked')
  assert.equal(entries.length, 1)
  const missing = await operate(url, 'POST', '/grants/grant_01kc3z8e5xf8m9r4t2v6w7y8za/revoke')
  assertRefused(missing, 404, 'not_found')
})
