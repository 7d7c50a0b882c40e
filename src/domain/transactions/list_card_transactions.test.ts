import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Transaction } from '#contract/transactions.ts'
import { assertForeignLikeMissing, issueCard } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { authorize, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service

test("lists one card's transactions and accepts the same filters", async () => {
  const spender = await openSpender(service, { usd: 100, treasury_usd: 50 })
  const other = await issueCard(url, spender.key, { load_usd: 50 })
  const mine = await authorize(url, spender, { amount: 5 })
  const declined = await authorize(url, spender, { amount: 500 })
  await authorize(url, { ...spender, card: other }, { amount: 6 })
  const list = async (query = '') => {
    const path = `/v1/cards/${spender.card.id}/transactions?${query}`
    const reply = await send(url, 'GET', path, { bearer: spender.key })
    assert.equal(reply.status, 200, reply.text)
    return (reply.body['data'] as Transaction[]).map(({ id }) => id)
  }
  assert.deepEqual(await list(), [declined.id, mine.id])
  assert.deepEqual(await list('type=authorization'), [mine.id])
})

test("another account's card gets the same response as a missing one", async () => {
  await assertForeignLikeMissing(service, (bearer, id) =>
    send(url, 'GET', `/v1/cards/${id}/transactions`, { bearer }),
  )
})
