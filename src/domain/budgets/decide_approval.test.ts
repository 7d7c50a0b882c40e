import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refresh, startAgentService } from '#test/support/agent.ts'
import { approvalIn, decide, grantBudget, listApprovals, loadCard } from '#test/support/budgets.ts'
import { advance, assertRefused, auditLog } from '#test/support/calls.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { operate } from '#test/support/operator.ts'
import { PASSWORD } from '#test/support/people.ts'
import { codeOf, turnOnTwoFactor, wrongCodeOf } from '#test/support/second_factor.ts'

const service = await startAgentService()
const { url } = service

/** A pending approval of a load of $60, and the call that it is for. */
async function openRequest() {
  const holder = await openHolder(service, 200)
  const card = await issueCard(url, holder.key)
  const granted = await grantBudget(url, holder, { amount_usd: 20 })
  const call = (usd = 60, { token } = granted) => loadCard(url, token, { id: card.id, usd })
  const { id } = approvalIn(await call())
  return { holder, card, ...granted, call, id }
}

test('the owner approves: the response, the list and the call agree', async () => {
  const { holder, card, id, call } = await openRequest()
  const reply = await decide(url, holder.bearer, { id })
  assert.equal(reply.status, 200, reply.text)
  const { status, operation, amount_usd, card_id, agent, decided_at } = reply.body
  assert.deepEqual([status, operation, amount_usd, card_id], ['approved', 'load_card', 60, card.id])
  assert.equal(agent.name, 'Shopper')
  assert.match(decided_at, /Z$/)
  assert.equal((await call()).status, 200)
  const [entry] = await auditLog(url, holder.bearer, '&action=decide_approval')
  assert.deepEqual(entry?.resource, { type: 'approval', id })
})

test('a decision is final: a second one is 409, whichever it is, also in parallel', async () => {
  const { holder, id, call } = await openRequest()
  const replies = await Promise.all(
    (['approve', 'decline', 'approve', 'decline'] as const).map((decision) =>
      decide(url, holder.bearer, { id, decision }),
    ),
  )
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409, 409, 409])
  for (const reply of replies.filter(({ status }) => status === 409)) {
    assertRefused(reply, 409, 'approval_decided')
  }
  await call()
  assertRefused(await decide(url, holder.bearer, { id }), 409, 'approval_decided')
})

test('a declined call stays refused, and may be asked for again', async () => {
  const { holder, id, call } = await openRequest()
  const reply = await decide(url, holder.bearer, { id, decision: 'decline' })
  assert.equal(reply.body['status'], 'declined')
  assert.notEqual(approvalIn(await call()).id, id)
})

test('only a session decides: keys and tokens are refused, strangers get a 404', async () => {
  const { holder, id, token } = await openRequest()
  for (const bearer of [holder.key, token]) {
    assertRefused(await decide(url, bearer, { id }), 403, 'credential_not_allowed')
  }
  const stranger = await openHolder(service)
  assertRefused(await decide(url, stranger.bearer, { id }), 404, 'not_found')
})

test('nobody can decide about an app whose access was revoked, or use what was approved', async () => {
  const { holder, id, call } = await openRequest()
  const second = approvalIn(await call(70)).id
  await decide(url, holder.bearer, { id: second })
  const grants = await send(url, 'GET', '/oauth/grants', { bearer: holder.bearer })
  const [{ id: grant_id }] = grants.body['data']
  await send(url, 'DELETE', `/oauth/grants/${grant_id}`, { bearer: holder.bearer })
  assert.equal((await call(70)).status, 401)
  assertRefused(await decide(url, holder.bearer, { id }), 409, 'approval_decided')
  const listed = await listApprovals(url, holder.bearer)
  assert.deepEqual(
    listed.map(({ status }) => status),
    ['expired', 'expired'],
  )
})

test('an app whose access is revoked during its calls leaves nothing to decide', async () => {
  const { holder, call } = await openRequest()
  const grants = await send(url, 'GET', '/oauth/grants', { bearer: holder.bearer })
  const [{ id: grant_id }] = grants.body['data']
  const calls = [61, 62, 63, 64, 65, 66].map((usd) => call(usd))
  await send(url, 'DELETE', `/oauth/grants/${grant_id}`, { bearer: holder.bearer })
  for (const reply of await Promise.all(calls)) {
    if (reply.status !== 401) approvalIn(reply)
    else assertRefused(reply, 401, 'token_revoked')
  }
  assert.deepEqual(await listApprovals(url, holder.bearer, '?status=pending'), [])
})

test('while an account is suspended nobody decides or calls; the approval waits', async () => {
  const { holder, id, call } = await openRequest()
  await operate(url, 'POST', `/accounts/${holder.account_id}/suspend`)
  assertRefused(await decide(url, holder.bearer, { id }), 403, 'account_suspended')
  assertRefused(await call(), 403, 'account_suspended')
  await operate(url, 'POST', `/accounts/${holder.account_id}/reinstate`)
  assert.equal((await decide(url, holder.bearer, { id })).status, 200)
  assert.equal((await call()).status, 200)
})

test('an approval expires after 24 hours, and an approved call after one', async () => {
  const { holder, agent, refresh_token, id, call } = await openRequest()
  const second = approvalIn(await call(70)).id
  await decide(url, holder.bearer, { id: second })
  await advance(url, holder.key, 3_600)
  const { access_token: token } = await refresh(agent, refresh_token)
  approvalIn(await call(70, { agent, token, refresh_token }))
  const expired = await listApprovals(url, holder.bearer, '?status=expired')
  assert.deepEqual(
    expired.map((each) => each.id),
    [second],
  )
  await advance(url, holder.key, 23 * 3_600)
  assertRefused(await decide(url, holder.bearer, { id }), 409, 'approval_decided')
})

const strict = await startAgentService({
  env: { FLORIN_RISK: '{"approval_password_usd": 50}' },
})

/** A pending approval of a load of $60, above the amount that needs the password. */
async function openLargeRequest() {
  const holder = await openHolder(strict, 200)
  const card = await issueCard(strict.url, holder.key)
  const { token } = await grantBudget(strict.url, holder, { amount_usd: 20 })
  const call = (usd = 60) => loadCard(strict.url, token, { id: card.id, usd })
  const { id } = approvalIn(await call())
  const decideWith = (more: object, approval = id) =>
    send(strict.url, 'POST', `/v1/approvals/${approval}`, {
      bearer: holder.bearer,
      body: { decision: 'approve', ...more },
    })
  return { holder, call, decideWith }
}

test('a large amount needs the password to approve, and none to decline', async () => {
  const { call, decideWith } = await openLargeRequest()
  const refused = await decideWith({})
  assertRefused(refused, 400, 'invalid_request')
  assert.equal(refused.body['details'][0].field, 'password')
  assertRefused(await decideWith({ password: 'not the right one' }), 401, 'invalid_credentials')
  assertRefused(await call(), 403, 'approval_required')
  assert.equal((await decideWith({ password: PASSWORD })).status, 200)
  assert.equal((await call()).status, 200)
  const again = await openLargeRequest()
  assert.equal((await again.decideWith({ decision: 'decline' })).body['status'], 'declined')
  const small = approvalIn(await again.call(45)).id
  assert.equal((await again.decideWith({}, small)).status, 200)
})

test('with two-factor authentication a large amount needs a code too', async () => {
  const { holder, decideWith } = await openLargeRequest()
  const { clock } = strict.runtime
  const { secret } = await turnOnTwoFactor(strict.url, holder.bearer, clock)
  assertRefused(await decideWith({ password: PASSWORD }), 401, 'totp_required')
  const wrong = { password: PASSWORD, totp_code: wrongCodeOf(secret, clock) }
  assertRefused(await decideWith(wrong), 401, 'totp_invalid')
  const right = { password: PASSWORD, totp_code: codeOf(secret, clock, 1) }
  assert.equal((await decideWith(right)).status, 200)
})

test('a code works once, also if the approval was already decided', async () => {
  const { holder, decideWith } = await openLargeRequest()
  const { recovery_codes } = await turnOnTwoFactor(strict.url, holder.bearer, strict.runtime.clock)
  assert.equal((await decideWith({ decision: 'decline' })).status, 200)
  for (const totp_code of recovery_codes) {
    const body = { password: PASSWORD, totp_code }
    assertRefused(await decideWith(body), 409, 'approval_decided')
    assertRefused(await decideWith(body), 401, 'totp_invalid')
  }
})
