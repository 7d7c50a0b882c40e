import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWrite, type OperationShape } from '#contract/operation.ts'
import type { OperationName } from '#contract/operations.ts'
import { pendingApproval } from '#test/support/budgets.ts'
import { assertRefused } from '#test/support/calls.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { pathOf, queryOf, sentFor, shapes } from '#test/support/contract.ts'
import { type RequestOptions, send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { requestReset } from '#test/support/password_resets.ts'
import { requiredBy } from '#test/support/paying.ts'
import { createKey, openAccount, PASSWORD } from '#test/support/people.ts'
import { rowCounts } from '#test/support/row_counts.ts'
import { codeOf, turnOnTwoFactor } from '#test/support/second_factor.ts'
import { startTestService } from '#test/support/start.ts'

const everything = Object.fromEntries(shapes.map(({ name }) => [name, '0.01']))
const priced = await startTestService({
  env: { FLORIN_PAID_OPERATIONS: JSON.stringify(everything) },
})
// The same program without prices, to create the objects of the calls.
const free = await startTestService({
  database_url: priced.database_url,
  data_dir: priced.data_dir,
})
const { url } = priced
const { db, clock, settings } = priced.runtime

const ada = await openHolder(free, 500)
const post = async (path: string, body: object = {}) => {
  const reply = await send(free.url, 'POST', path, { bearer: ada.key, body })
  assert(reply.status < 300, `${path}: ${reply.text}`)
  return reply.body
}
const card = await issueCard(free.url, ada.key, { load_usd: 50 })
const frozen = await issueCard(free.url, ada.key)
await post(`/v1/cards/${frozen.id}/freeze`)
const purchase = await post(`/sandbox/v1/cards/${card.id}/authorize`, { amount: 5 })
const capture = await post(`/sandbox/v1/transactions/${purchase.id}/capture`)
const other = await post(`/sandbox/v1/cards/${card.id}/authorize`, { amount: 7 })
const contested = await post(`/sandbox/v1/transactions/${other.id}/capture`)
const dispute = await post('/v1/disputes', {
  transaction_id: contested.id,
  reason: 'duplicate',
  explanation: 'Charged twice.',
})
const webhook = await post('/v1/webhooks', { url: 'http://127.0.0.1:65000/', events: ['*'] })
const topup = await post('/v1/topups', { amount_usd: 25 })
const address = 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE'
const withdrawal = await post('/v1/withdrawals', { amount_usd: 11, address })
const activity = await send(free.url, 'GET', '/v1/activity', { bearer: ada.key })
const event = activity.body['data'].find(
  (row: { sequence: number | null }) => row.sequence !== null,
)
const ticket = await post('/v1/tickets', { subject: 'Why?', message: 'Why?', category: 'other' })
const reset_token = await requestReset(free, ada.email)
const session = await send(free.url, 'POST', '/v1/sessions', {
  body: { email: ada.email, password: PASSWORD },
})
const second = await createKey(free.url, ada.bearer)
const approval = await pendingApproval(free, ada.account_id)
const guarded = await openAccount(free.url)
const { secret } = await turnOnTwoFactor(free.url, guarded.bearer, clock)

// Only what the calls themselves leave behind is to be counted.
for (const { tasks } of [free, priced]) await tasks.stop()
await send(url, 'GET', '/v1/accounts/me', { bearer: ada.key })

type CallInput = { ids?: Record<string, string>; sent?: RequestOptions }
const onCard = { ids: { id: card.id } }

/** Input that makes a call succeed if the contract's example does not. */
const given: Partial<Record<OperationName, CallInput>> = {
  create_account: { sent: { body: { email: 'new@example.com', password: PASSWORD } } },
  sign_in: { sent: { body: { email: ada.email, password: PASSWORD } } },
  sign_out: { sent: { bearer: ada.bearer } },
  enable_2fa: { sent: { bearer: ada.bearer, body: {} } },
  disable_2fa: { sent: { bearer: guarded.bearer } },
  update_account: { sent: { body: { notifications: { topup_expired: false } } } },
  revoke_api_key: { ids: { id: second.id } },
  get_topup: { ids: { id: topup.id } },
  cancel_topup: { ids: { id: topup.id } },
  get_card: onCard,
  reveal_pan: onCard,
  replace_card: onCard,
  load_card: onCard,
  unload_card: onCard,
  freeze_card: onCard,
  unfreeze_card: { ids: { id: frozen.id } },
  cancel_card: onCard,
  set_card_limits: onCard,
  set_mcc_rules: onCard,
  set_card_geo: onCard,
  list_card_transactions: onCard,
  get_transaction: { ids: { id: purchase.id } },
  get_auth_details: { ids: { id: purchase.id } },
  get_withdrawal: { ids: { id: withdrawal.id } },
  file_dispute: {
    sent: { body: { transaction_id: capture.id, reason: 'other', explanation: 'Not mine.' } },
  },
  get_dispute: { ids: { id: dispute.id } },
  add_dispute_evidence: { ids: { id: dispute.id }, sent: { body: { kind: 'note', note: 'So.' } } },
  create_webhook: { sent: { body: { url: 'http://127.0.0.1:65000/b', events: ['*'] } } },
  update_webhook: { ids: { id: webhook.id } },
  delete_webhook: { ids: { id: webhook.id } },
  replay_webhook: { ids: { id: webhook.id, eid: event.id } },
  request_password_reset: { sent: { body: { email: ada.email } } },
  reset_password: { sent: { body: { token: reset_token, password: PASSWORD } } },
  revoke_session: { ids: { id: session.body['session_id'] } },
  update_card: onCard,
  get_ticket: { ids: { id: ticket.id } },
  reply_ticket: { ids: { id: ticket.id } },
  decide_approval: { ids: { id: approval.id }, sent: { bearer: ada.bearer } },
  open_ticket: {
    sent: { body: { subject: 'Why?', message: 'Because.', category: 'other' } },
  },
}

function requestOf(shape: OperationShape): { path: string; sent: RequestOptions } {
  const { ids = {}, sent = {} } = given[shape.name as OperationName] ?? {}
  let { path } = shape
  for (const [name, id] of Object.entries(ids)) path = path.replace(`{${name}}`, id)
  const code = { body: { password: PASSWORD, totp_code: codeOf(secret, clock, 1) } }
  const late = shape.name === 'disable_2fa' ? code : {}
  return {
    path: `/v1${path}${queryOf(shape)}`,
    sent: { bearer: ada.key, ...sentFor(shape), ...sent, ...late },
  }
}

test('every operation can be given a price', () =>
  assert.equal(settings.x402.prices.size, shapes.length))

for (const shape of shapes) {
  test(`${shape.name}: authentication and input are checked before the price, and nothing changes`, async () => {
    const { path, sent } = requestOf(shape)
    const { bearer: _, ...strange } = sent
    if (shape.access !== 'anyone') {
      assertRefused(await send(url, shape.method, path, strange), 401, 'missing_token')
    }
    const crooked = `${path}${path.includes('?') ? '&' : '?'}no_such_parameter=1`
    const unread = await send(url, shape.method, crooked, sent)
    assertRefused(unread, 400, 'unknown_parameter')
    if (shape.path.includes('{')) {
      const missing = await send(url, shape.method, pathOf(shape) + queryOf(shape), sent)
      assertRefused(missing, 404, 'not_found')
    }

    const before = await rowCounts(db)
    const due = await send(url, shape.method, path, sent)
    assertRefused(due, 402, 'payment_required')
    const required = requiredBy(due)
    assert.equal(required.accepts[0]?.amount, '10000')
    assert.equal(required.resource.url, `${settings.public_url}${path.replace(/\?.*/, '')}`)
    if (isWrite(shape)) assert.deepEqual(await rowCounts(db), before)
  })
}

test('the books are sound after all of it', () => assertBooksSound(db))
