import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { startAgentService } from '#test/support/agent.ts'
import { budgetOf, decide, grantBudget, loadCard, unloadCard } from '#test/support/budgets.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { type Reply, send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'

const SEED = Number(process.env['FLORIN_SEED'] ?? randomInt(2 ** 31))
const BUDGET = 30
const ADDRESS = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'

const service = await startAgentService({ env: { FLORIN_RATE_PROFILE: 'off' } })
const { url } = service

/** Amounts are few, so that calls are repeated and can use an approval. */
const usd = fc.constantFrom(10, 12, 15, 40)
const card = fc.nat({ max: 1 })
const step = fc.oneof(
  fc.record({ kind: fc.constant('load' as const), usd, card }),
  fc.record({ kind: fc.constant('unload' as const), usd, card }),
  fc.record({ kind: fc.constant('issue' as const), usd, card }),
  fc.record({ kind: fc.constant('withdraw' as const), usd, card }),
)
type Step = { kind: 'load' | 'unload' | 'issue' | 'withdraw'; usd: number; card: number }
/** Calls made at the same time, and then how the owner decides about those refused. */
const round = fc.record({
  calls: fc.array(step, { minLength: 1, maxLength: 4 }),
  decision: fc.constantFrom('approve', 'decline', null),
})

type SpendingAgent = { token: string; cards: string[] }

function perform(
  { token, cards }: SpendingAgent,
  { kind, usd: amount, card: at }: Step,
): Promise<Reply> {
  const target = { id: cards[at] ?? '', usd: amount }
  if (kind === 'load') return loadCard(url, token, target)
  if (kind === 'unload') return unloadCard(url, token, target)
  const path = kind === 'issue' ? '/v1/cards' : '/v1/withdrawals'
  const body =
    kind === 'issue'
      ? { type: 'virtual', load_usd: amount }
      : { amount_usd: amount, address: ADDRESS }
  return send(url, 'POST', path, { bearer: token, body })
}

const treasuryOf = async (bearer: string) =>
  Number((await send(url, 'GET', '/v1/balance', { bearer })).body['balance_usd'])

test(`random calls never move more than the budget and what was approved, seed ${SEED}`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 2, maxLength: 8 }), async (rounds) => {
      const holder = await openHolder(service, 5_000)
      const cards = [(await issueCard(url, holder.key)).id, (await issueCard(url, holder.key)).id]
      const { token } = await grantBudget(url, holder, { amount_usd: BUDGET })
      let approved = 0
      for (const { calls, decision } of rounds) {
        const replies = await Promise.all(calls.map((one) => perform({ token, cards }, one)))
        const moved = 5_000 - (await treasuryOf(holder.key))
        assert.equal((await budgetOf(url, token)).used_usd, moved)
        assert(moved <= BUDGET + approved, `${moved} moved, ${approved} approved`)
        const asked = replies.flatMap(({ body }) => body['approval']?.id ?? [])
        if (decision === null) continue
        for (const id of new Set<string>(asked)) {
          const decided = await decide(url, holder.bearer, { id, decision })
          if (decided.body['status'] === 'approved') approved += Number(decided.body['amount_usd'])
        }
      }
    }),
    { seed: SEED, numRuns: 8 },
  )
  await assertBooksSound(service.runtime.db)
})
