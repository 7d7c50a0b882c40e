import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { issueCard, openHolder } from '#test/support/cards.ts'
import type { Reply } from '#test/support/http.ts'
import { send } from '#test/support/http.ts'
import type { Random } from '#test/support/mixed_storm_actors.ts'
import { assertBooksSound, fundTreasury } from '#test/support/money.ts'
import { startTwoNodes } from '#test/support/nodes.ts'
import { seeded } from '#test/support/storm.ts'
import { balanceOf } from '#test/support/topups.ts'
import { WALLET } from '#test/support/withdrawals.ts'

const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000)
const ROUNDS = Number(process.env['FLORIN_ROUNDS'] ?? 10)
const CALLS = 200
const AMOUNT_USD = 20

const { first: observer, second } = await startTwoNodes()
const nodes = [observer, second]

type Call = { path: string; body: object }

/** A load in eight of ten cases, else a withdrawal or a card with a load. */
function callOf(card_id: string, random: Random): Call {
  const kind = random(10)
  const body = { amount_usd: AMOUNT_USD }
  if (kind === 0) return { path: '/v1/withdrawals', body: { ...body, address: WALLET } }
  if (kind === 1) return { path: '/v1/cards', body: { type: 'virtual', load_usd: AMOUNT_USD } }
  return { path: `/v1/cards/${card_id}/load`, body }
}

test(`${ROUNDS} rounds of ${CALLS} loads, withdrawals and cards on two nodes spend each dollar once, seed ${seed}`, async (t) => {
  const random = seeded(seed)
  let refused = 0
  let retried = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const holder = await openHolder(observer)
    const card = await issueCard(observer.url, holder.key)
    const covered = 1 + random(40)
    await fundTreasury(observer.runtime.db, holder.account_id, covered * AMOUNT_USD)
    const attempt = async (at: number): Promise<Reply> => {
      const call = callOf(card.id, random)
      const key = randomUUID()
      for (let turn = at; ; turn += 1) {
        const url = nodes[turn % 2]?.url ?? ''
        const reply = await send(url, 'POST', call.path, {
          bearer: holder.key,
          body: call.body,
          key,
        })
        if (reply.status !== 503 && reply.body['error'] !== 'idempotency_in_progress') return reply
        retried += 1
        await delay(100)
      }
    }
    const replies = await Promise.all(Array.from({ length: CALLS }, (_, at) => attempt(at)))
    const done = replies.filter(({ status }) => status < 300)
    assert.equal(done.length, covered, `round ${round}`)
    for (const reply of replies.filter(({ status }) => status >= 300)) {
      assert.equal(reply.status, 409, reply.text)
      assert.equal(reply.body['error'], 'insufficient_balance')
      refused += 1
    }
    assert.equal((await balanceOf(observer.url, holder.bearer)).balance_usd, 0)
  }
  await assertBooksSound(observer.owner_db)
  t.diagnostic(`${ROUNDS} rounds, ${refused} refused, ${retried} repeated after a 503, 0 overspent`)
})
