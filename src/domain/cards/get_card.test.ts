import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '#test/support/calls.ts'
import { assertForeignLikeMissing, cardIn, issueCard, openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service

test('a card is shown in every state, to session and key alike, and never with its number', async () => {
  const { bearer, key } = await openHolder(service)
  for (const status of ['active', 'frozen', 'cancelled'] as const) {
    const card = await cardIn(url, bearer, { status })
    for (const who of [bearer, key]) {
      const reply = await send(url, 'GET', `/v1/cards/${card.id}`, { bearer: who })
      assert.deepEqual([reply.status, reply.body], [200, card])
      assert.equal(/pan|cvv|sealed|hash/.test(reply.text), false)
    }
  }
})

test('what has not the form of an id is no card, and parameters are not known', async () => {
  const { bearer } = await openHolder(service)
  const card = await issueCard(url, bearer)
  for (const id of ['card_', 'nonsense', '%27%20or%201=1', card.id.toUpperCase()]) {
    assertRefused(await send(url, 'GET', `/v1/cards/${id}`, { bearer }), 404, 'not_found')
  }
  const asked = await send(url, 'GET', `/v1/cards/${card.id}?expand=pan`, { bearer })
  assertRefused(asked, 400, 'unknown_parameter')
})

test("somebody else's card is like none", async () => {
  await assertForeignLikeMissing(service, (bearer, id) =>
    send(url, 'GET', `/v1/cards/${id}`, { bearer }),
  )
})
