import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, HOUR_MS, USD } from './amounts.ts'
import type { Budget, Command } from './commands.ts'
import { Model } from './model.ts'

const NOON = Date.UTC(2031, 2, 4, 12)
const account = 'ann'
const agent = 'shopper'
const card = 'red'

/** An account with 1,000 dollars, a card, and an app with this budget. */
function openModel(budget: Budget): Model {
  const model = new Model({ now: NOON })
  const fund = { account, topup: 'first', transfer: 'a' }
  for (const command of [
    { op: 'create_account', account },
    { op: 'create_topup', account, topup: 'first', amount: 1_000n * USD },
    { op: 'see_transfer', ...fund, amount: 1_000n * USD },
    { op: 'settle_transfer', ...fund },
    { op: 'issue_card', account, card },
    { op: 'grant_budget', account, agent, budget },
  ] as const) {
    assert.equal(model.apply(command)[0]?.result, 'ok')
  }
  return model
}

const load = (usd: bigint) =>
  ({ op: 'load_card', account, card, agent, amount: usd * USD }) as const
const unload = (usd: bigint) => ({ ...load(usd), op: 'unload_card' }) as const
const decide = (usd: bigint, decision: 'approved' | 'declined'): Command => ({
  op: 'decide_approval',
  account,
  agent,
  call: `load_card|${card}|${usd * USD}`,
  decision,
})
const ok = { result: 'ok' } as const
const asks = { result: 'refused', code: 'approval_required' } as const
const used = (usd: bigint) => ({ agents: { [agent]: { used: usd * USD } } })

test('an app spends its budget, and beyond it one approved call, once', () => {
  const model = openModel({ amount: 50n * USD, period: 'total', ask_above: null })
  model.confirm(load(40n), ok)
  model.confirm(load(20n), asks)
  model.confirm(load(10n), ok)
  model.confirm(decide(20n, 'approved'), ok)
  model.confirm(decide(20n, 'declined'), { result: 'refused', code: 'approval_decided' })
  model.confirm(load(21n), asks)
  model.confirm(load(20n), ok)
  model.confirm(load(20n), asks)
  model.observe(account, used(70n))
})

test('the owner has no budget, and an unload gives back only what the app has loaded', () => {
  const model = openModel({ amount: 50n * USD, period: 'total', ask_above: null })
  const { agent: _, ...own } = load(100n)
  model.confirm(own, ok)
  model.confirm(unload(30n), ok)
  model.observe(account, used(0n))
  model.confirm(load(50n), ok)
  model.confirm(unload(80n), ok)
  model.observe(account, used(0n))
})

test('a call above the limit of one call asks, and an approval lasts an hour', () => {
  const model = openModel({ amount: 500n * USD, period: 'total', ask_above: 50n * USD })
  model.confirm(load(51n), asks)
  model.confirm(decide(51n, 'approved'), ok)
  model.setTime(NOON + HOUR_MS)
  model.confirm(load(51n), asks)
  model.setTime(NOON + HOUR_MS + DAY_MS)
  model.confirm(decide(51n, 'approved'), { result: 'refused', code: 'approval_decided' })
})

test('a budget of a day starts anew at midnight, and one of a month does not', () => {
  for (const period of ['day', 'month'] as const) {
    const model = openModel({ amount: 50n * USD, period, ask_above: null })
    model.confirm(load(50n), ok)
    model.setTime(NOON + DAY_MS)
    model.confirm(load(10n), period === 'day' ? ok : asks)
  }
})
