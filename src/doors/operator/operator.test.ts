import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWrite, pathNames } from '#contract/operation.ts'
import type { OperatorOperation } from '#contract/operator/operation.ts'
import { operator_operations } from '#contract/operator/operations.ts'
import { operator_roles } from '#contract/operator/roles.ts'
import { createOperatorToken, revokeOperatorToken } from '#domain/operators/operator_token.ts'
import { keyOfText } from '#platform/postgres/advisory_key.ts'
import { assertRefused, auditLog } from '#test/support/calls.ts'
import { balanceOf, fileDispute, openBuyer } from '#test/support/disputes.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { operate } from '#test/support/operator.ts'
import { authorize, callSandbox, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'
import { fund } from '#test/support/topups.ts'
import { WALLET } from '#test/support/withdrawals.ts'

const risk = { withdrawal_review_usd: 50, withdrawal_cooldown_hours: 24, balance_max_usd: 1_000 }
const service = await startTestService({
  env: {
    FLORIN_RISK: JSON.stringify({
      ...risk,
      blocked_countries: ['KP'],
      velocity: { create_topup: { account_per_day: 3 }, open_ticket: { ip_per_day: 2 } },
    }),
  },
})
const { url, runtime, home } = service
const { db, keys, random, clock } = runtime
const all: readonly OperatorOperation[] = Object.values(operator_operations)

async function tokenOf(role: (typeof operator_roles)[number], name: string = role) {
  const made = { random, keys, now: clock.now(), livemode: false, days: 90, totp_secret: null }
  const { id, token } = await createOperatorToken(home.db, { name, role }, made)
  return { id, token: token.open() }
}

/** The path with ids that nobody has: who may not call is refused before anything is looked for. */
const pathOf = ({ path }: OperatorOperation) =>
  pathNames(path).reduce((text, name) => text.replace(`{${name}}`, 'nothing'), path)

const ask = (call: OperatorOperation, bearer: string | undefined) =>
  operate(url, call.method, pathOf(call), {
    bearer,
    ...(isWrite(call) && { body: { no_such_field: 1 } }),
  })

// First: what follows withdraws money that never came from a chain.
test('the books agree with custody on the chain and with the card networks', async () => {
  const buyer = await openBuyer(service, 10)
  await fund(url, buyer.key, 30)
  await fileDispute(url, buyer)
  const { status, body } = await operate(url, 'GET', '/reconciliation')
  assert.equal(status, 200)
  assert.deepEqual(body['violations'], [])
  for (const { difference_usd } of body['network']) assert.equal(difference_usd, 0)
  const [tron] = body['chains']
  assert.equal(tron.fault, null)
  assert.equal(tron.ledger_usd, 30)
  assert.deepEqual([tron.on_chain_usd - tron.float_usd, tron.difference_usd], [30, 0])
  assert.equal(tron.is_short, false)
  const { body: figures } = await operate(url, 'GET', '/figures')
  const today = figures['days'].at(-1)
  assert(today.approved > 0 && today.captured_usd >= 10 && today.deposited_usd >= 30)
  assert(today.disputes_opened >= 1 && today.approval_rate > 0)
  const timestamps = `from=${today.day}T00:00:00.000Z&to=${today.day}T23:59:59.999Z`
  const { body: of_a_day } = await operate(url, 'GET', `/figures?${timestamps}`)
  assert.deepEqual([of_a_day['from'], of_a_day['to']], [today.day, today.day])
  for (const from of ['yesterday', '2026-02-30', '2026-02-30T00:00:00.000Z', '2026-01-01T']) {
    assertRefused(await operate(url, 'GET', `/figures?from=${from}`), 400, 'invalid_request')
  }
})

test('each role may do what its calls say and what the roles before it may, and no more', async () => {
  for (const role of operator_roles) {
    const { token } = await tokenOf(role)
    for (const call of all) {
      const mayCall = operator_roles.indexOf(role) >= operator_roles.indexOf(call.access.operator)
      const { status, body } = await ask(call, token)
      const isRefused = status === 403 && body['error'] === 'insufficient_scope'
      assert.equal(isRefused, !mayCall, `${role} calling ${call.name}: ${status}`)
      assert.notEqual(status, 500, call.name)
    }
  }
})

test('without an operator token nothing is served, and no other bearer is one', async () => {
  const { key, bearer } = await openSpender(service, { usd: 1 })
  for (const call of all) {
    assertRefused(await ask(call, undefined), 401, 'missing_token')
    assertRefused(await ask(call, key), 401, 'invalid_token')
  }
  assertRefused(await operate(url, 'GET', '/health', { bearer }), 401, 'invalid_token')
})

test('a token is stored as a hash, and its revocation takes effect immediately', async () => {
  const { id, token } = await tokenOf('viewer', 'Ada')
  assert.equal((await operate(url, 'GET', '/health', { bearer: token })).status, 200)
  const rows = await home.db.rows<object>('select * from operator_tokens')
  assert(!JSON.stringify(rows).includes(token))
  await assert.rejects(tokenOf('admin', 'Ada'), /already/)
  assert.equal(await revokeOperatorToken(home.db, id, clock.now()), true)
  assertRefused(await operate(url, 'GET', '/health', { bearer: token }), 401, 'token_revoked')
  await tokenOf('viewer', 'Ada')
})

test('the document describes every call, under its own path', async () => {
  const { body } = await send(url, 'GET', '/operator/openapi.json')
  for (const call of all) {
    const entry = body['paths'][call.path][call.method.toLowerCase()]
    assert.equal(entry.operationId, call.name)
  }
})

test('a repeat under one key is done once and answered alike', async () => {
  const buyer = await openBuyer(service, 10)
  const ticket = { subject: 'S', message: 'M', category: 'card' }
  const opened = await send(url, 'POST', '/v1/tickets', { bearer: buyer.key, body: ticket })
  const path = `/tickets/${opened.body['id']}/reply`
  const sent = { body: { message: 'Once.' }, key: 'reply-1' }
  const first = await operate(url, 'POST', path, sent)
  const again = await operate(url, 'POST', path, sent)
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.deepEqual(again.body, first.body)
  const other = await operate(url, 'POST', path, { body: { message: 'Twice.' }, key: 'reply-1' })
  assertRefused(other, 422, 'idempotency_key_reused')
})

test('an account, a card and a transaction are found by ID', async () => {
  const buyer = await openBuyer(service, 10)
  const other = await openBuyer(service, 10)
  const { account_id } = buyer
  const idsAt = async (path: string) =>
    (await operate(url, 'GET', path)).body['data'].map(({ id }: { id: string }) => id)
  assert.deepEqual(await idsAt(`/accounts?account_id=${account_id}`), [account_id])
  assert.deepEqual(await idsAt(`/cards?card_id=${buyer.card.id}`), [buyer.card.id])
  const transactions = `/transactions?account_id=${account_id}`
  const { body } = await operate(url, 'GET', transactions)
  assert.deepEqual(
    body['data'].map((row: { account_id: string; card_id: string }) => [
      row.account_id,
      row.card_id,
    ]),
    body['data'].map(() => [account_id, buyer.card.id]),
  )
  const { id } = buyer.capture
  assert.deepEqual(await idsAt(`${transactions}&transaction_id=${id}`), [id])
  assert.deepEqual(await idsAt(`${transactions}&transaction_id=${other.capture.id}`), [])
  assert.deepEqual(await idsAt(`${transactions}&card_id=${other.card.id}`), [])
  assertRefused(await operate(url, 'GET', '/transactions'), 400, 'invalid_request')
})

test('lists name the customer of every row by email', async () => {
  const [buyer, other] = [await openBuyer(service, 10), await openBuyer(service, 10)]
  const [dispute] = [await fileDispute(url, buyer), await fileDispute(url, other)]
  const emails = new Map<string, string>()
  for (const { key, account_id } of [buyer, other]) {
    const { body } = await send(url, 'GET', '/v1/accounts/me', { bearer: key })
    emails.set(account_id, body['email'])
  }
  const { account_id } = buyer
  for (const path of ['/disputes', '/cards', `/transactions?account_id=${account_id}`]) {
    const { body } = await operate(url, 'GET', path)
    const rows = (body['data'] as { account_id: string; account_email: string }[]).filter((row) =>
      emails.has(row.account_id),
    )
    assert(rows.length > 0, path)
    for (const row of rows) assert.equal(row.account_email, emails.get(row.account_id), path)
  }
  const shown = await operate(url, 'GET', `/disputes/${dispute?.id}`)
  assert.equal(shown.body['account_email'], emails.get(account_id))
})

test('a refusal under a key is stored and replayed', async () => {
  const { card } = await openSpender(service, { usd: 1 })
  const unfreeze = () => operate(url, 'POST', `/cards/${card.id}/unfreeze`, { key: 'unfreeze-1' })
  const first = await unfreeze()
  assertRefused(first, 409, 'card_not_frozen')
  await operate(url, 'POST', `/cards/${card.id}/freeze`)
  const again = await unfreeze()
  assert.deepEqual([again.status, again.body], [409, first.body])
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
})

test("a write waits for the account's other writes", async () => {
  const { card, account_id } = await openSpender(service, { usd: 1 })
  let frozen: Promise<unknown> | undefined
  await db.transaction(async (tx) => {
    await tx.rows(`select pg_advisory_xact_lock(${keyOfText(1)})`, [account_id])
    frozen = operate(url, 'POST', `/cards/${card.id}/freeze`)
    const waiting = () =>
      db.rows("select 1 from pg_locks where locktype = 'advisory' and not granted")
    assert.ok(await eventually(async () => (await waiting()).length > 0, { within_ms: 10_000 }))
  })
  await frozen
})

test('calls are counted in the metrics under their own names', async () => {
  await operate(url, 'GET', '/kill_switches')
  const { text } = await send(url, 'GET', '/metrics')
  assert.match(text, /operation="operator_list_kill_switches"/)
})

test('a card that an administrator froze stays frozen for its holder', async () => {
  const { key, bearer, card, account_id } = await openSpender(service, { usd: 20 })
  const found = await operate(url, 'GET', `/cards?last4=${card.last4}&account_id=${account_id}`)
  assert.deepEqual(
    found.body['data'].map(({ id }: { id: string }) => id),
    [card.id],
  )
  const frozen = await operate(url, 'POST', `/cards/${card.id}/freeze`)
  assert.deepEqual([frozen.body['status'], frozen.body['frozen_by']], ['frozen', 'admin'])
  const own = await send(url, 'POST', `/v1/cards/${card.id}/unfreeze`, { bearer: key })
  assertRefused(own, 403, 'policy_denied')
  const thawed = await operate(url, 'POST', `/cards/${card.id}/unfreeze`)
  assert.equal(thawed.body['status'], 'active')
  const ended = await operate(url, 'POST', `/cards/${card.id}/cancel`)
  assert.deepEqual([ended.body['status'], ended.body['cancel_reason']], ['cancelled', 'admin'])
  assert.equal(await balanceOf(url, key), 20)
  const entries = await auditLog(url, bearer, '&actor_type=operator')
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['freeze_card', 'unfreeze_card', 'cancel_card'],
  )
  await assertBooksSound(db)
})

test('a suspended account is refused immediately, and works again after', async () => {
  const spender = await openSpender(service, { usd: 20 })
  const found = await operate(url, 'GET', `/accounts?email=${spender.email.toUpperCase()}`)
  assert.equal(found.body['data'][0].id, spender.account_id)
  await operate(url, 'POST', `/accounts/${spender.account_id}/suspend`)
  const refused = await send(url, 'GET', '/v1/balance', { bearer: spender.key })
  assertRefused(refused, 403, 'account_suspended')
  const back = await operate(url, 'POST', `/accounts/${spender.account_id}/reinstate`)
  assert.equal(back.body['status'], 'active')
  assert.equal((await authorize(url, spender, { amount: 1 })).type, 'authorization')
})

test('limits and rate profile of one account are set and given back', async () => {
  const { key, account_id } = await openSpender(service, { usd: 20 })
  const path = `/accounts/${account_id}/limits`
  const body = { load_max_usd: 5, rate_profile: 'conservative' }
  const set = await operate(url, 'PATCH', path, { body })
  assert.deepEqual(
    [set.body['own_limits'], set.body['rate_profile']],
    [{ load_max_usd: 5 }, 'conservative'],
  )
  const limits = await send(url, 'GET', '/v1/system/limits', { bearer: key })
  assert.equal(limits.body['spend_limits'].load_max_usd, 5)
  const cleared = await operate(url, 'PATCH', path, { body: { load_max_usd: null } })
  assert.deepEqual(cleared.body['own_limits'], {})
  assertRefused(await operate(url, 'PATCH', path, { body: { x: 1 } }), 400, 'invalid_request')
  assertRefused(await operate(url, 'GET', '/accounts/nobody'), 404, 'not_found')
})

test('no limit of an account is a number that the books could not count with', async () => {
  const spender = await openSpender(service, { usd: 20 })
  const path = `/accounts/${spender.account_id}/limits`
  const set = (body: object) => operate(url, 'PATCH', path, { body })
  assertRefused(await set({ per_transaction_max_usd: 0.1234567 }), 422, 'invalid_amount')
  assertRefused(await set({ topup_max_usd: 1e300 }), 422, 'amount_out_of_range')
  assertRefused(await set({ cards_max: 1.5 }), 400, 'invalid_request')
  assert.equal((await authorize(url, spender, { amount: 1 })).type, 'authorization')
})

test('a large withdrawal waits for a person, who lets it go or refuses it', async () => {
  const { key, bearer, account_id } = await openSpender(service, { usd: 1, treasury_usd: 300 })
  // With the session: a new key is still cooling down.
  const ask = () =>
    send(url, 'POST', '/v1/withdrawals', {
      bearer,
      body: { amount_usd: 60, address: WALLET },
    })
  const [first, second] = [(await ask()).body, (await ask()).body]
  assert.equal(first.status_reason, 'review')
  const query = `/withdrawals?status=review&account_id=${account_id}`
  assert.equal((await operate(url, 'GET', query)).body['data'].length, 2)
  const refused = await operate(url, 'POST', `/withdrawals/${first.id}/refuse`)
  assert.deepEqual([refused.body['status'], refused.body['status_reason']], ['failed', 'refused'])
  assert.equal(await balanceOf(url, key), 240)
  const approved = await operate(url, 'POST', `/withdrawals/${second.id}/approve`)
  assert.equal(approved.body['status_reason'], null)
  assertRefused(
    await operate(url, 'POST', `/withdrawals/${first.id}/approve`),
    409,
    'invalid_request',
  )
  await assertBooksSound(db)
})

test('risk controls hold: cool-down, largest balance, countries, velocity', async () => {
  const { bearer, key, card } = await openSpender(service, { usd: 100, treasury_usd: 50 })
  const topup = (amount_usd: number) =>
    send(url, 'POST', '/v1/topups', { bearer: key, body: { amount_usd } })
  assertRefused(await topup(900), 422, 'amount_out_of_range')
  for (let count = 0; count < 3; count += 1) assert.equal((await topup(10)).status, 201)
  const over = await topup(10)
  assertRefused(over, 429, 'rate_limited')
  assert(Number(over.headers.get('retry-after')) > 0)
  const abroad = await authorize(url, { key, card }, { amount: 1, merchant_country: 'KP' })
  assert.equal(abroad.decline_code, 'country_blocked')

  const password = { current_password: 'a long enough password', password: 'another good password' }
  const changed = await send(url, 'PATCH', '/v1/accounts/me', { bearer, body: password })
  assert.equal(changed.status, 200, changed.text)
  const body = { amount_usd: 20, address: WALLET }
  const withdraw = () => send(url, 'POST', '/v1/withdrawals', { bearer: key, body })
  assertRefused(await withdraw(), 403, 'policy_denied')
  await callSandbox(url, key, 'clock/advance', { seconds: 25 * 3_600 })
  assert.equal((await withdraw()).status, 201)
})

test('velocity by IP address counts the calls of all accounts', async () => {
  const holders = [await openSpender(service), await openSpender(service)]
  const body = { subject: 'Hello', message: 'Is anybody there?', category: 'other' }
  const askOf = ({ key }: { key: string }) =>
    send(url, 'POST', '/v1/tickets', { bearer: key, body })
  for (const holder of holders) assert.equal((await askOf(holder)).status, 201)
  for (const holder of holders) assertRefused(await askOf(holder), 429, 'rate_limited')
})

test('maintenance is announced to everybody and shown in health', async () => {
  const starts_at = new Date(clock.now().getTime() + 3_600_000).toISOString()
  const ends_at = new Date(clock.now().getTime() + 7_200_000).toISOString()
  const body = { starts_at, ends_at, message: 'A new database.' }
  const reply = await operate(url, 'POST', '/maintenance', { body })
  assert.equal(reply.status, 200, reply.text)
  const health = await operate(url, 'GET', '/health')
  assert.equal(health.body['maintenance'][0].message, 'A new database.')
  for (const wrong of [{ ends_at: starts_at }, { components: [] }]) {
    const refused = await operate(url, 'POST', '/maintenance', { body: { ...body, ...wrong } })
    assertRefused(refused, 400, 'invalid_request')
  }
  assert.equal((await operate(url, 'POST', '/screening/reload')).body['source'], 'none')
  assert.deepEqual((await operate(url, 'GET', '/webhooks')).body['data'], [])
})

test('a physical card is shipped step by step, in the sandbox too', async () => {
  const shipping = {
    name: 'Ada Lovelace',
    line1: '12 St James Square',
    city: 'London',
    postal_code: 'SW1Y 4JH',
    country: 'GB',
  }
  const { key, card } = await openSpender(service, { usd: 1, type: 'physical', shipping })
  const pending = await operate(url, 'GET', '/cards?shipping_status=pending')
  assert(pending.body['data'].some(({ id }: { id: string }) => id === card.id))
  const ship = (status: string) => callSandbox(url, key, `cards/${card.id}/shipping`, { status })
  const shipped = await ship('shipped')
  assert.equal(shipped.body['shipping'].status, 'shipped', shipped.text)
  assert.notEqual(shipped.body['shipping'].shipped_at, null)
  assert.equal((await ship('delivered')).body['shipping'].status, 'delivered')
  assert.equal((await ship('lost')).status, 400)
  assert.equal((await ship('pending')).status, 409)
  assert.equal((await ship('shipped')).status, 409)
  assert.equal((await ship('returned')).body['shipping'].status, 'returned')
})
