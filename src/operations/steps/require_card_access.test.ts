import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorize, registerAgent, startAgentService } from '#test/support/agent.ts'
import { assertRefused } from '#test/support/calls.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'

const service = await startAgentService()
const { url } = service
const holder = await openHolder(service, 200)
const agent = await registerAgent(url)

/** A token for one card, which it may read, control and replace. */
async function tokenFor(card_id: string): Promise<string> {
  const { access_token } = await authorize(agent, holder, {
    scope: 'card:read card:control card:issue',
    resource: `${url}/v1`,
    authorization_details: [{ type: 'card_access', identifier: card_id }],
  })
  return access_token
}

type KeyedCall = { verb: string; key: string; body?: object }

const callCard = (bearer: string, id: string, { verb, key, body }: KeyedCall) =>
  send(url, 'POST', `/v1/cards/${id}/${verb}`, {
    bearer,
    headers: { 'idempotency-key': key },
    ...(body !== undefined && { body }),
  })

test('a token for one card that repeats replace_card under its key gets the same new card', async () => {
  const card = await issueCard(url, holder.key)
  const bearer = await tokenFor(card.id)
  const first = await callCard(bearer, card.id, { verb: 'replace', key: 'replace_1' })
  assert.equal(first.status, 200, first.text)
  const second = await callCard(bearer, card.id, { verb: 'replace', key: 'replace_1' })
  assert.equal(second.status, 200, second.text)
  assert.equal(second.headers.get('idempotent-replayed'), 'true')
  assert.equal(second.text, first.text)
})

test('a write on a card that was replaced since is replayed, even after two replacements', async () => {
  const card = await issueCard(url, holder.key)
  const bearer = await tokenFor(card.id)
  const load = { verb: 'load', key: 'load_1', body: { amount_usd: 20 } }
  const first = await callCard(bearer, card.id, load)
  assert.equal(first.status, 200, first.text)
  let id = card.id
  for (const key of ['a', 'b']) {
    const replaced = await callCard(holder.key, id, { verb: 'replace', key })
    assert.equal(replaced.status, 200, replaced.text)
    id = String(replaced.body['id'])
  }
  const second = await callCard(bearer, card.id, load)
  assert.equal(second.text, first.text)
})

test('without a stored response the replaced card and all others are not found', async () => {
  const card = await issueCard(url, holder.key)
  const other = await issueCard(url, holder.key)
  const bearer = await tokenFor(card.id)
  const freeze = { verb: 'freeze', key: 'freeze_1' }
  assert.equal((await callCard(holder.key, other.id, freeze)).status, 200)
  assert.equal((await callCard(bearer, card.id, { verb: 'replace', key: 'r' })).status, 200)

  assertRefused(await callCard(bearer, card.id, freeze), 404, 'not_found')
  assertRefused(await callCard(bearer, other.id, freeze), 404, 'not_found')
  const unkeyed = await send(url, 'POST', `/v1/cards/${card.id}/replace`, { bearer })
  assertRefused(unkeyed, 404, 'not_found')
})
