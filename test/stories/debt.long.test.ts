import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Balance, BalancePoint } from '#contract/balance.ts'
import type { InboxMail } from '#domain/context/surface.ts'
import { assertRefused } from '#test/support/calls.ts'
import { callCard, getCard, issueCard } from '#test/support/cards.ts'
import { type Buyer, fileDispute, openBuyer } from '#test/support/disputes.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { operate } from '#test/support/operator.ts'
import { authorize, follow, forceCapture, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'
import { fund } from '#test/support/topups.ts'
import { askToWithdraw, endOnChain, requested } from '#test/support/withdrawals.ts'

const service = await startTestService()
const { url, runtime } = service

type Figures = Pick<Balance, 'balance_usd' | 'owed_usd'>

async function figures(bearer: string): Promise<Figures> {
  const { body } = await send(url, 'GET', '/v1/balance', { bearer })
  const { balance_usd, owed_usd } = body as unknown as Balance
  return { balance_usd, owed_usd }
}

async function assertOwes(bearer: string, owed_usd: number, balance_usd = 0): Promise<void> {
  assert.deepEqual(await figures(bearer), { balance_usd, owed_usd })
}

/** The issue's story: buy, dispute, withdraw the credit, lose. Everything disputed is owed. */
async function openDebtor(amount: number, on_card = 0): Promise<Buyer> {
  const buyer = await openBuyer(service, amount, amount + on_card)
  const dispute = await fileDispute(url, buyer)
  await requested({ url, bearer: buyer.key }, amount)
  await lose(dispute.id)
  return buyer
}

async function lose(id: string): Promise<void> {
  const reply = await operate(url, 'POST', `/disputes/${id}/close`, { body: { outcome: 'lost' } })
  assert.equal(reply.status, 200, reply.text)
}

/** The history, oldest first, adds up to the balance it ends with. */
async function assertReplays(bearer: string): Promise<BalancePoint[]> {
  const reply = await send(url, 'GET', '/v1/balance/history?order=asc&limit=100', { bearer })
  const points = reply.body['data'] as BalancePoint[]
  let sum = 0
  for (const point of points) {
    sum = Math.round((sum + point.amount_usd) * 1e6) / 1e6
    assert.equal(point.balance_usd, sum)
  }
  assert.equal((await figures(bearer)).balance_usd, sum)
  return points
}

test('a top-up pays what the account owes before it can be used', async () => {
  const { key, bearer, card } = await openDebtor(1_000)
  await assertOwes(key, 1_000)
  const account = await send(url, 'GET', '/v1/accounts/me', { bearer: key })
  assert.deepEqual([account.body['owed_usd'], account.body['balance_usd']], [1_000, 0])

  await fund(url, key, 500)
  await assertOwes(key, 500)
  for (const reply of [
    await askToWithdraw({ url, bearer: key }, { amount_usd: 400 }),
    await callCard(url, { id: card.id, verb: 'load' }, { bearer: key, body: { amount_usd: 5 } }),
    await send(url, 'POST', '/v1/cards', { bearer: key, body: { type: 'virtual', load_usd: 5 } }),
  ]) {
    assertRefused(reply, 409, 'insufficient_balance')
    assert.match(reply.body['message'], /You owe \$500\.00/)
  }
  assert.equal((await issueCard(url, key)).status, 'active')

  await fund(url, key, 600)
  await assertOwes(key, 0, 100)
  const points = await assertReplays(bearer)
  assert.deepEqual(
    points.slice(-4).map(({ type, amount_usd }) => [type, amount_usd]),
    [
      ['topup', 500],
      ['adjustment', -500],
      ['topup', 600],
      ['adjustment', -500],
    ],
  )
  await assertBooksSound(runtime.db)
})

test('an authorization is declined while a debt is owed, also on a card that has money', async () => {
  const debtor = await openDebtor(40, 100)
  await assertOwes(debtor.key, 40)
  const declined = await authorize(url, debtor, { amount: 10 })
  assert.deepEqual([declined.type, declined.decline_code], ['decline', 'insufficient_funds'])
  assert.equal((await getCard(url, debtor.key, debtor.card.id)).balance_usd, 100)
  await assertOwes(debtor.key, 40)

  await fund(url, debtor.key, 40)
  assert.equal((await authorize(url, debtor, { amount: 10 })).status, 'pending')
  await assertBooksSound(runtime.db)
})

test('an unload and a cancelled card pay the debt first, and the response shows the rest', async () => {
  const { key, card } = await openDebtor(40, 100)
  const body = { amount_usd: 10 }
  const unloaded = await callCard(url, { id: card.id, verb: 'unload' }, { bearer: key, body })
  assert.equal(unloaded.status, 200, unloaded.text)
  assert.deepEqual([unloaded.body['amount_usd'], unloaded.body['balance_usd']], [10, 0])
  await assertOwes(key, 30)
  await callCard(url, { id: card.id, verb: 'cancel' }, { bearer: key })
  await assertOwes(key, 0, 60)
  await assertReplays(key)
  await assertBooksSound(runtime.db)
})

test('a refund and a released hold pay the debt of their account first', async () => {
  const spender = await openSpender(service, { usd: 100 })
  const bought = await authorize(url, spender, { amount: 30 })
  await follow(url, spender, { id: bought.id, verb: 'capture' })
  const held = await authorize(url, spender, { amount: 50 })
  await forceCapture(url, spender, { amount: 60 })
  await assertOwes(spender.key, 40)
  await follow(url, spender, { id: held.id, verb: 'reverse', amount: 15 })
  await assertOwes(spender.key, 25)
  await follow(url, spender, { id: bought.id, verb: 'refund', amount: 30 })
  await assertOwes(spender.key, 0)
  assert.equal((await getCard(url, spender.key, spender.card.id)).balance_usd, 5)
  await assertBooksSound(runtime.db)
})

test('a dispute credit and a failed withdrawal pay the debt first', async () => {
  const buyer = await openBuyer(service, 40, 40)
  const withdrawn = await fileDispute(url, buyer)
  const account = { url, bearer: buyer.key }
  const { id } = await requested(account, 30)
  await lose(withdrawn.id)
  await assertOwes(buyer.key, 30)
  await endOnChain(account, id, 'fail')
  await assertOwes(buyer.key, 0)

  await forceCapture(url, buyer, { amount: 25 })
  await assertOwes(buyer.key, 25)
  const activity = await send(url, 'GET', '/v1/activity?event=balance.debt_incurred', {
    bearer: buyer.key,
  })
  assert.match(
    activity.body['data'][0].message,
    /^You owe \$25\.00\. A charge of \$25\.00 at .+ was more than the card could pay\. /,
  )
  await fileDispute(url, buyer)
  await assertOwes(buyer.key, 0, 15)
  await assertReplays(buyer.key)
  await assertBooksSound(runtime.db)
})

test("a new debt appears in the activity stream, in an email and on the operator's account page", async () => {
  const { key, bearer, account_id } = await openDebtor(40)
  const activity = await send(url, 'GET', '/v1/activity?event=balance.debt_incurred', {
    bearer: key,
  })
  const [row] = activity.body['data']
  assert.deepEqual([row.type, row.severity, row.amount_usd], ['spend', 'error', 40])
  const findMail = async () => {
    const reply = await send(url, 'GET', '/sandbox/v1/inbox', { bearer })
    const mails = reply.body['data'] as unknown as InboxMail[]
    return mails.find(({ kind }) => kind === 'balance.debt_incurred')
  }
  const isThere = async () => (await findMail()) !== undefined
  assert(await eventually(isThere, { within_ms: 20_000 }), 'there is an email about the debt')
  const mail = await findMail()
  assert.match(mail?.text ?? '', /^You owe \$40\.00\.$/m)
  assert.match(mail?.text ?? '', /^The credit for a dispute was taken back \(\$40\.00\)\. /m)
  const shown = await operate(url, 'GET', `/accounts/${account_id}`)
  assert.equal(shown.body['owed_usd'], 40)
})

test('an account without a debt shows a debt of zero', async () => {
  const { key } = await openSpender(service, { usd: 10 })
  await assertOwes(key, 0)
  const account = await send(url, 'GET', '/v1/accounts/me', { bearer: key })
  assert.equal(account.body['owed_usd'], 0)
})
