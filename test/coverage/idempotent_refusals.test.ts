import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { OperationShape } from '#contract/operation.ts'
import type { OperationName } from '#contract/operations.ts'
import { problem_statuses } from '#contract/problem.ts'
import { amountFields, placeOf } from '#operations/steps/amount_fields.ts'
import { decide, pendingApproval } from '#test/support/budgets.ts'
import { callCard, cardIn, issueCard, openHolder } from '#test/support/cards.ts'
import { bodyOf, pathOf, shapes } from '#test/support/contract.ts'
import { fileDispute, openBuyer } from '#test/support/disputes.ts'
import { type Reply, send } from '#test/support/http.ts'
import { operate } from '#test/support/operator.ts'
import { requestReset } from '#test/support/password_resets.ts'
import { openAccount, PASSWORD } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { subscribe } from '#test/support/webhooks.ts'

const service = await startTestService()
const { url } = service

const holder = await openHolder(service)
const cancelled = await cardIn(url, holder.key, { status: 'cancelled' })
const card = await issueCard(url, holder.key)
const topup = await send(url, 'POST', '/v1/topups', {
  bearer: holder.bearer,
  body: { amount_usd: 100, asset: 'USDT', chain: 'tron' },
})
await send(url, 'POST', `/v1/topups/${topup.body['id']}/cancel`, { bearer: holder.bearer })
const webhook = await subscribe(url, holder, { url: 'https://shop.example/florin' })
const buyer = await openBuyer(service)
const dispute = await fileDispute(url, buyer)
const closing = await openBuyer(service)
const closed = await fileDispute(url, closing)
await operate(url, 'POST', `/disputes/${closed.id}/close`, { body: { outcome: 'lost' } })

const ticket = await send(url, 'POST', '/v1/tickets', {
  bearer: buyer.key,
  body: { subject: 'Why?', message: 'Why?', category: 'other' },
})
await operate(url, 'PATCH', `/tickets/${ticket.body['id']}`, { body: { status: 'closed' } })
const decided = await pendingApproval(service, holder.account_id)
await decide(url, holder.bearer, { id: decided.id })

const reset_token = await requestReset(service, buyer.email)

const takesKey = ({ method, never_stored }: OperationShape) =>
  (method === 'POST' || method === 'PATCH') && never_stored !== true

/** Sends the call twice with one key: the second response replays the first. */
async function assertStored(ask: (key: string) => Promise<Reply>, status: number, error: string) {
  const key = randomUUID()
  const first = await ask(key)
  assert.equal(`${first.status} ${first.body['error']}`, `${status} ${error}`, first.text)
  assert.equal(first.headers.get('idempotent-replayed'), null)
  const again = await ask(key)
  assert.equal(again.headers.get('idempotent-replayed'), 'true', error)
  assert.equal(again.text, first.text)
  return key
}

/** An example that has a value in this place, with another one there, as JSON text. */
function withAmount(operation: OperationShape, path: readonly string[], text: string): string {
  const body: Record<string, unknown> = { ...bodyOf(operation) }
  let holder = body
  for (const step of path.slice(0, -1)) {
    holder[step] = { ...(holder[step] as object | undefined) }
    holder = holder[step] as Record<string, unknown>
  }
  holder[path.at(-1) ?? ''] = 7_777_777
  assert.ok(placeOf(body, path) !== null)
  return JSON.stringify(body).replace('7777777', text)
}

const with_amounts = shapes.filter(
  (operation) => takesKey(operation) && amountFields(operation.input).length > 0,
)

for (const operation of with_amounts) {
  test(`${operation.name}: an unacceptable amount is stored under its key like any other 422`, async () => {
    const { bearer } = await openAccount(url)
    for (const { path } of amountFields(operation.input)) {
      for (const [text, error] of [
        ['1.1234567', 'invalid_amount'],
        ['-1', 'invalid_amount'],
        ['1e400', 'invalid_amount'],
        ['9007199254740993', 'invalid_amount'],
        ['99999999999', 'amount_out_of_range'],
      ] as const) {
        const ask = (amount: string) => (key: string) => {
          const raw = withAmount(operation, path, amount)
          return send(url, operation.method, pathOf(operation), { bearer, key, raw })
        }
        const key = await assertStored(ask(text), 422, error)
        for (const other of ['1.1234568', '1e401', '9007199254740995', '5']) {
          const reused = await ask(other)(key)
          assert.equal(reused.body['error'], 'idempotency_key_reused', `${path} ${text} ${other}`)
        }
      }
    }
  })
}

type Case = {
  operation: OperationName
  error: string
  path: string
  body?: object
  bearer?: string
}

const onCard = (verb: string, error: string, body: object = {}, id = cancelled.id) => ({
  error,
  path: `/v1/cards/${id}/${verb}`,
  body,
})

const cases: readonly Case[] = [
  {
    operation: 'create_account',
    error: 'email_taken',
    path: '/v1/accounts',
    body: { email: holder.email, password: PASSWORD },
  },
  {
    operation: 'create_account',
    error: 'weak_password',
    path: '/v1/accounts',
    body: { email: 'someone@example.com', password: 'password' },
  },
  {
    operation: 'update_account',
    error: 'weak_password',
    path: '/v1/accounts/me',
    body: { password: 'password', current_password: PASSWORD },
  },
  {
    operation: 'update_account',
    error: 'invalid_request',
    path: '/v1/accounts/me',
    body: { notifications: { security_alerts: false } },
  },
  {
    operation: 'enable_2fa',
    error: 'totp_not_enabled',
    path: '/v1/accounts/me/totp',
    body: { totp_code: '123456' },
  },
  {
    operation: 'create_topup',
    error: 'amount_out_of_range',
    path: '/v1/topups',
    body: { amount_usd: 1, asset: 'USDT', chain: 'tron' },
  },
  {
    operation: 'cancel_topup',
    error: 'topup_not_cancellable',
    path: `/v1/topups/${topup.body['id']}/cancel`,
    body: {},
  },
  {
    operation: 'issue_card',
    error: 'unsupported_bin',
    path: '/v1/cards',
    body: { type: 'virtual', bin: '999999' },
  },
  {
    operation: 'issue_card',
    error: 'insufficient_balance',
    path: '/v1/cards',
    body: { type: 'virtual', load_usd: 50 },
  },
  { operation: 'replace_card', ...onCard('replace', 'card_cancelled') },
  { operation: 'load_card', ...onCard('load', 'card_cancelled', { amount_usd: 5 }) },
  {
    operation: 'load_card',
    ...onCard('load', 'insufficient_balance', { amount_usd: 5 }, card.id),
  },
  { operation: 'unload_card', ...onCard('unload', 'insufficient_card_balance', {}, card.id) },
  { operation: 'freeze_card', ...onCard('freeze', 'card_cancelled') },
  { operation: 'unfreeze_card', ...onCard('unfreeze', 'card_not_frozen', {}, card.id) },
  { operation: 'set_card_limits', ...onCard('limits', 'card_cancelled', { daily_usd: 5 }) },
  { operation: 'set_mcc_rules', ...onCard('mcc', 'invalid_mcc', { deny: ['0'] }, card.id) },
  { operation: 'set_card_geo', ...onCard('geo', 'invalid_country', { deny: ['ZZ'] }, card.id) },
  {
    operation: 'withdraw',
    error: 'invalid_address',
    path: '/v1/withdrawals',
    body: { amount_usd: 20, address: 'nowhere' },
  },
  {
    operation: 'file_dispute',
    error: 'dispute_exists',
    path: '/v1/disputes',
    bearer: buyer.key,
    body: { transaction_id: dispute.transaction_id, reason: 'other', explanation: 'Again.' },
  },
  {
    operation: 'add_dispute_evidence',
    error: 'dispute_closed',
    path: `/v1/disputes/${closed.id}/evidence`,
    bearer: closing.key,
    body: { kind: 'note', note: 'Too late.' },
  },
  {
    operation: 'decide_approval',
    error: 'approval_decided',
    path: `/v1/approvals/${decided.id}`,
    body: { decision: 'approve' },
  },
  {
    operation: 'create_webhook',
    error: 'invalid_webhook_url',
    path: '/v1/webhooks',
    body: { url: 'ftp://shop.example/florin', events: ['*'] },
  },
  {
    operation: 'update_webhook',
    error: 'unknown_event_type',
    path: `/v1/webhooks/${webhook.id}`,
    body: { events: ['card.eaten'] },
  },
  {
    operation: 'reset_password',
    error: 'weak_password',
    path: '/v1/password_resets/confirm',
    body: { token: reset_token, password: 'password' },
  },
  {
    operation: 'reply_ticket',
    error: 'ticket_closed',
    path: `/v1/tickets/${ticket.body['id']}/messages`,
    bearer: buyer.key,
    body: { body: 'Once more.' },
  },
]

for (const { operation, error, path, body, bearer = holder.bearer } of cases) {
  test(`${operation}: ${error} is stored under its key`, async () => {
    const shape = shapes.find(({ name }) => name === operation)
    assert(shape !== undefined)
    const sent = shape.access === 'anyone' ? {} : { bearer }
    const ask = (key: string) => send(url, shape.method, path, { ...sent, key, body })
    const status = error === 'invalid_request' ? 422 : problem_statuses[error as never]
    await assertStored(ask, status, error)
  })
}

test('this list has every operation that can respond with its own 409 or 422', () => {
  const covered = new Set<string>(
    [...cases, ...with_amounts.map(({ name }) => ({ operation: name }))].map(
      ({ operation }) => operation,
    ),
  )
  const missing = shapes.filter((shape) => {
    const statuses = (shape.problems ?? []).map((code) => problem_statuses[code])
    return (
      takesKey(shape) &&
      statuses.some((status) => status === 409 || status === 422) &&
      !covered.has(shape.name)
    )
  })
  assert.deepEqual(
    missing.map(({ name }) => name),
    [],
  )
})

test('a 400, a 401 and a 404 are not stored: the same key may be used for the right request', async () => {
  const key = randomUUID()
  const sent = { key, bearer: holder.bearer }
  const load = (body: object, bearer = holder.bearer) =>
    callCard(url, { id: card.id, verb: 'load' }, { ...sent, bearer, body })
  assert.equal((await load({ amount: 5 })).status, 400)
  assert.equal((await load({ amount_usd: 5 }, 'flk_test_nobody')).status, 401)
  assert.equal((await load({ amount_usd: 5 })).status, 409)
})
