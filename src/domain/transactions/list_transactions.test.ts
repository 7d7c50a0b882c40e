import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Transaction } from '#contract/transactions.ts'
import { assertRefused } from '#test/support/calls.ts'
import { issueCard } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { authorize, follow, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service
const spender = await openSpender(service, { usd: 500 })

const books = await authorize(url, spender, { amount: 20, merchant_name: 'Corner Books' })
const train = await authorize(url, spender, {
  amount: 30,
  currency: 'EUR',
  merchant_name: 'BAHN 100% TICKET',
  mcc: '4112',
  merchant_country: 'DE',
})
const declined = await authorize(url, spender, { amount: 9_000 })
const captured = await follow(url, spender, { id: books.id, verb: 'capture', amount: 15 })
const refunded = await follow(url, spender, { id: books.id, verb: 'refund', amount: 5 })

async function list(query: string, bearer = spender.key): Promise<Transaction[]> {
  const reply = await send(url, 'GET', `/v1/transactions?${query}`, { bearer })
  assert.equal(reply.status, 200, reply.text)
  return reply.body['data']
}

const idsOf = async (query: string) => (await list(query)).map(({ id }) => id)

test('lists every transaction newest first, with no gap between pages', async () => {
  const all = [refunded, captured, declined, train, books].map(({ id }) => id)
  assert.deepEqual(await idsOf(''), all)
  assert.deepEqual(await idsOf('order=asc'), all.toReversed())
  const seen: string[] = []
  let cursor = ''
  for (let page = 0; page < 3; page += 1) {
    const reply = await send(url, 'GET', `/v1/transactions?limit=2${cursor}`, {
      bearer: spender.key,
    })
    seen.push(...(reply.body['data'] as Transaction[]).map(({ id }) => id))
    cursor = `&cursor=${reply.body['next_cursor']}`
  }
  assert.deepEqual(seen, all)
})

test('each filter returns exactly the matching transactions', async () => {
  const cases: [string, string[]][] = [
    ['type=authorization', [train.id, books.id]],
    ['type=capture,refund', [refunded.id, captured.id]],
    ['status=declined', [declined.id]],
    ['status=partially_captured', [books.id]],
    ['mcc=4112', [train.id]],
    ['mcc=4111-4112,9999', [train.id]],
    ['mcc=4113-4199', []],
    ['merchant=corner', [refunded.id, captured.id, books.id]],
    ['merchant=100%25', [train.id]],
    ['merchant=%25', [train.id]],
    ['country=DE', [train.id]],
    ['currency=EUR', [train.id]],
    ['amount_gte=20&amount_lte=100', [train.id, books.id]],
    ['amount_gte=8999.99', [declined.id]],
    [`authorization_id=${books.id}`, [refunded.id, captured.id, books.id]],
    [`authorization_id=${captured.id}`, []],
    [`card_id=${spender.card.id}&type=decline`, [declined.id]],
    ['dispute_id=dsp_01kc3z8e5xf8m9r4t2v6w7y8za', []],
    [`created_gt=${refunded.created_at}`, []],
  ]
  for (const [query, expected] of cases) assert.deepEqual(await idsOf(query), expected, query)
})

test('the list of several cards is the list of all without the other cards, page by page', async () => {
  const owner = await openSpender(service, { usd: 50, treasury_usd: 50 })
  const { key: bearer } = owner
  const cards = [owner.card, await issueCard(url, bearer, { load_usd: 9 })]
  cards.push(await issueCard(url, bearer, { load_usd: 9 }))
  for (const at of [0, 1, 2, 0, 0, 1, 2, 1]) {
    const card = cards[at]
    assert(card !== undefined)
    await authorize(url, { key: bearer, card }, { amount: at + 1 })
  }
  const all = await list('', bearer)
  assert.equal(all.length, 8)
  const [first = '', second = '', third = ''] = cards.map(({ id }) => id)
  const middle = all[4]?.created_at ?? ''
  for (const ids of [
    [first, second],
    [second, third],
    [third, first, third],
    [first, spender.card.id],
  ]) {
    for (const [query, rows] of [
      ['', all],
      ['&order=asc', all.toReversed()],
      [`&created_lt=${middle}`, all.filter(({ created_at }) => created_at < middle)],
      [`&created_gte=${middle}`, all.filter(({ created_at }) => created_at >= middle)],
      ['&amount_lte=2', all.filter(({ amount }) => amount <= 2)],
    ] as const) {
      const expected = rows.filter(({ card_id }) => ids.includes(card_id)).map(({ id }) => id)
      const seen: string[] = []
      for (let cursor = ''; ; ) {
        const path = `/v1/transactions?limit=2&card_id=${ids.join(',')}${query}${cursor}`
        const { status, body, text } = await send(url, 'GET', path, { bearer })
        assert.equal(status, 200, text)
        seen.push(...(body['data'] as Transaction[]).map(({ id }) => id))
        if (body['next_cursor'] === null) break
        cursor = `&cursor=${body['next_cursor']}`
      }
      assert.deepEqual(seen, expected, `${ids} ${query}`)
    }
  }
})

test('an unknown filter and a cursor of another list are refused', async () => {
  const bearer = spender.key
  assertRefused(
    await send(url, 'GET', '/v1/transactions?shop=x', { bearer }),
    400,
    'unknown_parameter',
  )
  const page = await send(url, 'GET', '/v1/transactions?limit=1', { bearer })
  const cursor = page.body['next_cursor']
  const other = await send(url, 'GET', `/v1/transactions?type=decline&cursor=${cursor}`, { bearer })
  assertRefused(other, 400, 'invalid_cursor')
})

test('a range of merchant categories that ends before it starts is refused', async () => {
  for (const path of ['/v1/transactions', `/v1/cards/${spender.card.id}/transactions`]) {
    const reply = await send(url, 'GET', `${path}?mcc=5411,5814-5811`, { bearer: spender.key })
    assertRefused(reply, 400, 'invalid_request')
    assert.match(reply.body['message'], /^mcc has the range 5814-5811, which ends before it starts/)
  }
})

test("another account's transactions are not listed", async () => {
  const stranger = await openSpender(service, { usd: 0 })
  assert.deepEqual(await list('', stranger.key), [])
  assert.deepEqual(await list(`authorization_id=${books.id}`, stranger.key), [])
  const second = await issueCard(url, spender.key)
  assert.deepEqual(await list(`card_id=${second.id}`), [])
})
