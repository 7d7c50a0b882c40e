import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '#test/support/calls.ts'
import { assertForeignLikeMissing, cardIn, issueCard, openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service

test('a session and an API key can read a card in every status, never with its number', async () => {
  const { bearer, key } = await openHolder(service)
  for (const status of ['active', 'frozen', 'cancelled'] as const) {
    const card = await cardIn(url, bearer, { status })
    for (const who of [bearer, key]) {
      const reply = await send(url, 'GET', `/v1/cards/${card.id}`, { bearer: who })
      assert.deepEqual([reply.status, reply.body], [200, card])
      const names = Object.keys(card).filter((name) => /pan|cvv|sealed|hash/.test(name))
      assert.deepEqual(names, [])
    }
  }
})

test('an invalid id is not found, and query parameters are refused', async () => {
  const { bearer } = await openHolder(service)
  const card = await issueCard(url, bearer)
  for (const id of ['card_', 'nonsense', '%27%20or%201=1', card.id.toUpperCase()]) {
    assertRefused(await send(url, 'GET', `/v1/cards/${id}`, { bearer }), 404, 'not_found')
  }
  const expanded = await send(url, 'GET', `/v1/cards/${card.id}?expand=pan`, { bearer })
  assertRefused(expanded, 400, 'unknown_parameter')
})

test("another account's card is not found", async () => {
  await assertForeignLikeMissing(service, (bearer, id) =>
    send(url, 'GET', `/v1/cards/${id}`, { bearer }),
  )
})
