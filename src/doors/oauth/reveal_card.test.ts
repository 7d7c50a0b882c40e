import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorize, registerAgent, startAgentService } from '#test/support/agent.ts'
import { advance, assertRefused, auditLog } from '#test/support/calls.ts'
import { type Holder, issueCard, openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { recordingLog, wholeDatabase } from '#test/support/leaks.ts'
import { PASSWORD } from '#test/support/people.ts'
import { codeOf, turnOnTwoFactor, wrongCodeOf } from '#test/support/second_factor.ts'

const { log, text: logText } = recordingLog()
const service = await startAgentService({ dependencies: { log } })
const { url, runtime } = service

const reveal = (bearer: string | undefined, body: object) =>
  send(url, 'POST', '/oauth/card_reveals', { bearer, body })

async function openCard(): Promise<{ holder: Holder; card_id: string }> {
  const holder = await openHolder(service)
  const { id } = await issueCard(url, holder.bearer)
  return { holder, card_id: id }
}

const actionsOf = async ({ bearer }: Holder, prefix = 'card.pan_') =>
  (await auditLog(url, bearer))
    .filter(({ action }) => action.startsWith(prefix))
    .map(({ action, result, actor, resource }) => [action, result, actor.type, resource?.id])

test('the password shows one card number, and the grant ends with the response', async () => {
  const { holder, card_id } = await openCard()
  const reply = await reveal(holder.bearer, { card_id, password: PASSWORD })
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.headers.get('cache-control'), 'no-store')
  const { pan, cvv, expiry } = reply.body
  assert.match(pan, /^\d{16}$/)
  assert.match(cvv, /^\d{3}$/)
  assert.match(expiry, /^\d\d\/\d\d$/)
  assert.deepEqual(await actionsOf(holder), [
    ['card.pan_revealed', 'success', 'oauth_client', card_id],
  ])
  assert.deepEqual(
    (await actionsOf(holder, 'oauth.')).map(([action]) => action),
    ['oauth.granted', 'oauth.used', 'oauth.revoked'],
  )
  const grants = await send(url, 'GET', '/oauth/grants', { bearer: holder.bearer })
  assert.deepEqual(grants.body.data, [], 'the panel is not one of the owner’s agents')
  const stored = await wholeDatabase(runtime.db)
  for (const secret of [pan, PASSWORD]) {
    assert(!logText().includes(secret), 'the log has no card number and no password')
    assert(!stored.includes(secret), 'neither has the database')
  }
  const inbox = await send(url, 'GET', '/sandbox/v1/inbox', { bearer: holder.bearer })
  const mails = inbox.body.data as { kind: string; text: string }[]
  const mail = mails.find(({ kind }) => kind === 'card_revealed')
  assert(mail?.text.includes(`Card: Ending in ${pan.slice(-4)}`) && !mail.text.includes(pan))
})

test('a wrong password reveals nothing, is audited, and ten lock the account’s checks', async () => {
  const { holder, card_id } = await openCard()
  const guess = () => reveal(holder.bearer, { card_id, password: 'not the right password' })
  assertRefused(await guess(), 401, 'invalid_credentials')
  assert.deepEqual(await actionsOf(holder), [
    ['card.pan_reveal_denied', 'failure', 'session', card_id],
  ])
  for (let n = 0; n < 9; n++) assertRefused(await guess(), 401, 'invalid_credentials')
  assertRefused(await guess(), 429, 'too_many_attempts')
  const right = await reveal(holder.bearer, { card_id, password: PASSWORD })
  assertRefused(right, 429, 'too_many_attempts')
})

test('a card can be revealed five times an hour', async () => {
  const { holder, card_id } = await openCard()
  const ask = () => reveal(holder.bearer, { card_id, password: PASSWORD })
  for (let n = 0; n < 5; n++) assert.equal((await ask()).status, 200)
  assertRefused(await ask(), 429, 'reveal_limit_exceeded')
  const [last] = (await actionsOf(holder)).slice(-1)
  assert.deepEqual(last?.slice(0, 2), ['card.pan_reveal_denied', 'denied'])
  await advance(url, holder.bearer, 3_601)
  assert.equal((await ask()).status, 200)
})

test('another account’s card does not exist, whatever the password', async () => {
  const { card_id } = await openCard()
  const { holder: stranger } = await openCard()
  const foreign = await reveal(stranger.bearer, { card_id, password: PASSWORD })
  assertRefused(foreign, 404, 'not_found')
  assertRefused(
    await reveal(stranger.bearer, { card_id: 'card_1', password: PASSWORD }),
    404,
    'not_found',
  )
})

test('only a session can use it: no API key, no agent’s token and no missing bearer', async () => {
  const { holder, card_id } = await openCard()
  const body = { card_id, password: PASSWORD }
  assertRefused(await reveal(holder.key, body), 403, 'credential_not_allowed')
  const agent = await registerAgent(url)
  const resource = `${url}/v1`
  const scope = 'card:read card:reveal_pan'
  const tokens = await authorize(agent, holder, { scope, resource, scopes: scope.split(' ') })
  assertRefused(await reveal(tokens.access_token, body), 403, 'credential_not_allowed')
  assert.equal((await reveal(undefined, body)).status, 401)
  assert.deepEqual(
    (await actionsOf(holder)).map(([action, result, actor]) => [action, result, actor]),
    [
      ['card.pan_reveal_denied', 'denied', 'api_key'],
      ['card.pan_reveal_denied', 'denied', 'oauth_client'],
    ],
  )
  const direct = await send(url, 'GET', `/v1/cards/${card_id}/pan`, { bearer: holder.bearer })
  assertRefused(direct, 403, 'credential_not_allowed')
})

test('with two-factor authentication the password alone is not enough', async () => {
  const { holder, card_id } = await openCard()
  const { clock } = runtime
  const { secret } = await turnOnTwoFactor(url, holder.bearer, clock)
  const ask = (more: object) => reveal(holder.bearer, { card_id, password: PASSWORD, ...more })
  assertRefused(await ask({}), 401, 'totp_required')
  assertRefused(await ask({ totp_code: wrongCodeOf(secret, clock) }), 401, 'totp_invalid')
  const totp_code = codeOf(secret, clock, 1)
  const without = await reveal(holder.bearer, { card_id, password: 'wrong password', totp_code })
  assertRefused(without, 401, 'invalid_credentials')
  assert.equal((await ask({ totp_code })).status, 200)
  assertRefused(await ask({ totp_code }), 401, 'totp_invalid')
})

test('a body with a missing or unknown field is refused', async () => {
  const { holder, card_id } = await openCard()
  assertRefused(await reveal(holder.bearer, { card_id }), 400, 'invalid_request')
  const more = { card_id, password: PASSWORD, all_cards: true }
  assertRefused(await reveal(holder.bearer, more), 400, 'invalid_request')
})
