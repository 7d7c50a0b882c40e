import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callCard } from '#test/support/cards.ts'
import { type Buyer, file, openBuyer } from '#test/support/disputes.ts'
import { type Reply, send } from '#test/support/http.ts'
import { assertBooksSound, fundTreasury } from '#test/support/money.ts'
import { operate } from '#test/support/operator.ts'
import { callSandbox } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'
import { seeded } from '#test/support/storm.ts'
import { askToWithdraw } from '#test/support/withdrawals.ts'

const service = await startTestService()
const { url, runtime } = service

const CLIENTS = 6
const STEPS = 12
const SEED = Number(process.env['FLORIN_SEED'] ?? Date.now() % 2 ** 31)

/** One thing that an owner, a merchant, a chain or an operator does to the account. */
async function act(buyer: Buyer, below: (limit: number) => number): Promise<Reply | null> {
  const { key, card, account_id, capture } = buyer
  const amount = 1 + below(40)
  const moving = { bearer: key, body: { amount_usd: amount } }
  switch (below(10)) {
    case 0:
    case 1:
      await fundTreasury(runtime.db, account_id, amount)
      return null
    case 2:
      return callCard(url, { id: card.id, verb: 'load' }, moving)
    case 3:
      return callCard(url, { id: card.id, verb: 'unload' }, moving)
    case 4:
      return callSandbox(url, key, `cards/${card.id}/force_capture`, { amount })
    case 5:
      return callSandbox(url, key, `cards/${card.id}/authorize`, { amount })
    case 6:
      return callSandbox(url, key, `transactions/${capture.id}/refund`, { amount: 1 })
    case 7:
      return askToWithdraw({ url, bearer: key }, { amount_usd: 10 + amount })
    case 8:
      return file(url, buyer, { amount_usd: 1 + below(20) })
    default:
      return closeOne(key, below(2) === 0 ? 'won' : 'lost')
  }
}

async function closeOne(bearer: string, outcome: 'won' | 'lost'): Promise<Reply | null> {
  const open = await send(url, 'GET', '/v1/disputes?status=open&limit=1', { bearer })
  const id = open.body['data'][0]?.id
  return id === undefined
    ? null
    : operate(url, 'POST', `/disputes/${id}/close`, { body: { outcome } })
}

const RICH_DEBTORS = `
  select t.account_id from purses t join purses d using (account_id)
   where t.kind = 'treasury' and t.balance_micros > 0
     and d.kind = 'receivable' and d.balance_micros < 0`

test(`credits, card messages, loads and disputes of a debtor race without a deadlock, and no commit leaves money beside a debt (seed ${SEED})`, async () => {
  const buyer = await openBuyer(service, 1_000, 1_000)
  let isOver = false
  const watching = (async () => {
    while (!isOver) assert.deepEqual(await runtime.db.rows(RICH_DEBTORS), [])
  })()
  const client = async (_: unknown, at: number) => {
    const below = seeded(SEED + at)
    for (let step = 0; step < STEPS; step += 1) {
      const reply = await act(buyer, below)
      // A refund may find that nothing of this purchase is left; the card host itself never fails.
      if (reply !== null) assert(reply.status < 500, `${reply.status} ${reply.text}`)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  isOver = true
  await watching
  await assertBooksSound(runtime.db)
  const declines = await send(url, 'GET', '/v1/transactions?type=decline&limit=100', {
    bearer: buyer.key,
  })
  for (const { decline_code } of declines.body['data']) {
    assert.match(decline_code, /^(insufficient_funds|limit_)/)
  }
  const [{ deadlocks = -1 } = {}] = await runtime.db.rows<{ deadlocks: number }>(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  )
  assert.equal(deadlocks, 0)
})
