import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InboxMail } from '#domain/context/surface.ts'
import {
  authorize,
  openConsent,
  registerAgent,
  startAgentService,
  startAuthorization,
} from '#test/support/agent.ts'
import { Browser } from '#test/support/browser.ts'
import { advance, assertRefused, auditLog } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { wholeDatabase } from '#test/support/leaks.ts'
import { fundTreasury } from '#test/support/money.ts'
import { createKey, openAccount, PASSWORD, type Person } from '#test/support/people.ts'
import { turnOnTwoFactor } from '#test/support/second_factor.ts'
import { subscribe } from '#test/support/webhooks.ts'
import { askToWithdraw } from '#test/support/withdrawals.ts'

const HOUR_S = 3_600
const { url, runtime } = await startAgentService({
  env: { FLORIN_RISK: JSON.stringify({ withdrawal_cooldown_hours: 24 }) },
})
const { clock, db } = runtime
const NEW_PASSWORD = 'a password only the owner knows'

/** The emails to the account's owner, newest first; needs no valid session. */
async function mailsOf({ account_id }: Pick<Person, 'account_id'>): Promise<InboxMail[]> {
  return db.rows<InboxMail>(
    `select kind, recipient as to, subject, body_text as text, body_html as html from notices
      where account_id = $1 order by id desc`,
    [account_id],
  )
}
const mailOf = async (person: Person, kind: string) => {
  const mail = (await mailsOf(person)).find((each) => each.kind === kind)
  assert(mail !== undefined, `there is an email about ${kind}`)
  return mail
}

test('each new grant sends an email with client and scopes; repeating the consent does not', async () => {
  const person = await openAccount(url)
  const agent = await registerAgent(url, { client_name: 'Helper <b>bot</b>' })
  const asking = { scope: 'account:read card:control', scopes: ['account:read'] }
  await authorize(agent, person, asking)
  const { text, html } = await mailOf(person, 'grant_created')
  assert.match(text, /Helper <b>bot<\/b>/)
  assert.match(text, /It can now: See your account details and two-factor status\./)
  assert(!html.includes('<b>bot'))
  await authorize(agent, person, asking)
  const count = async () =>
    (await mailsOf(person)).filter(({ kind }) => kind === 'grant_created').length
  assert.equal(await count(), 1)
  await authorize(agent, person, { ...asking, scopes: ['account:read', 'card:control'] })
  assert.equal(await count(), 2, 'additional scopes send an email')
})

test('each new webhook and each changed webhook URL sends an email', async () => {
  const person = await openAccount(url)
  const { bearer } = person
  const { id } = await subscribe(url, person, { url: 'http://127.0.0.1:3999/one' })
  assert.match((await mailOf(person, 'webhook_created')).text, /127\.0\.0\.1:3999/)
  const body = { url: 'http://127.0.0.1:3998/two' }
  await send(url, 'PATCH', `/v1/webhooks/${id}`, { bearer, body })
  assert.match((await mailOf(person, 'webhook_moved')).text, /127\.0\.0\.1:3998/)
})

test('an API key cannot turn off security emails; turning off others sends an email', async () => {
  const person = await openAccount(url)
  const { key } = await createKey(url, person.bearer)
  const set = (notifications: object) =>
    send(url, 'PATCH', '/v1/accounts/me', { bearer: key, body: { notifications } })
  assertRefused(await set({ security_alerts: false }), 422, 'invalid_request')
  const off = { withdrawal_broadcasted: false, card_frozen: false, system_maintenance: false }
  assert.equal((await set(off)).status, 200)
  assert.match((await mailOf(person, 'notifications_off')).text, /Withdrawal sent, Card frozen/)
  const before = (await mailsOf(person)).length
  await createKey(url, key)
  await subscribe(url, { bearer: key }, { url: 'http://127.0.0.1:3999/x' })
  assert.equal((await mailsOf(person)).length, before + 2)
})

test('a change of email or password is reported to the old address', async () => {
  const person = await openAccount(url)
  const { bearer } = person
  const body = { email: `new_${person.email}`, password: NEW_PASSWORD, current_password: PASSWORD }
  await send(url, 'PATCH', '/v1/accounts/me', { bearer, body })
  for (const kind of ['email_changed', 'password_changed']) {
    assert.equal((await mailOf(person, kind)).to, person.email, kind)
  }
})

const linkIn = ({ text }: InboxMail) => /http\S+\/undo\/\S+/.exec(text)?.[0] ?? ''
const undo = (link: string, password = NEW_PASSWORD) =>
  fetch(link, { method: 'POST', body: new URLSearchParams({ password }), redirect: 'manual' })
const signIn = (email: string, password: string) =>
  send(url, 'POST', '/v1/sessions', { body: { email, password } })

test('an owner locked out by an attacker’s two-factor setup recovers with the link in the email', async () => {
  const person = await openAccount(url)
  const { bearer, email } = person
  await fundTreasury(db, person.account_id, 100)
  const browser = new Browser(url)
  const open = await openConsent(
    browser,
    (await startAuthorization(await registerAgent(url))).url,
    person,
  )
  await turnOnTwoFactor(url, bearer, clock)
  assertRefused(await signIn(email, PASSWORD), 401, 'totp_required')
  const link = linkIn(await mailOf(person, 'two_factor_on'))
  assert(link.startsWith(`${url}/undo/`), link)

  const page = await fetch(link)
  assert.equal(page.status, 200)
  assert.match(page.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/)
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
  assertRefused(await signIn(email, PASSWORD), 401, 'totp_required')
  assert.equal((await undo(link, 'short')).status, 422, 'a weak password uses nothing up')
  assert.equal((await undo(link)).status, 200)

  const ended = await send(url, 'GET', '/v1/accounts/me', { bearer })
  assertRefused(ended, 401, 'token_revoked')
  assertRefused(await signIn(email, PASSWORD), 401, 'invalid_credentials')
  const session = await signIn(email, NEW_PASSWORD)
  assert.equal(session.status, 200, session.text)
  const own = { ...person, bearer: String(session.body['bearer']) }
  const account = await send(url, 'GET', '/v1/accounts/me', { bearer: own.bearer })
  assert.equal(account.body['two_factor_enabled'], false)
  assert.equal((await browser.open(open.url)).status, 400, 'open consent pages are over')
  const early = await askToWithdraw({ url, bearer: own.bearer }, { amount_usd: 20 })
  assertRefused(early, 403, 'policy_denied')
  assert.equal((await undo(link, 'yet another password')).status, 410, 'a link works once')
  const actions = (await auditLog(url, own.bearer)).map(({ action }) => action)
  assert(actions.includes('totp.disabled') && actions.includes('account.updated'))
})

test('the undo link of an email change returns the account to the old address', async () => {
  const person = await openAccount(url)
  const { bearer, email } = person
  const body = { email: `thief_${email}`, current_password: PASSWORD }
  await send(url, 'PATCH', '/v1/accounts/me', { bearer, body })
  await turnOnTwoFactor(url, bearer, clock)
  const link = linkIn(await mailOf(person, 'email_changed'))
  assert.equal((await undo(link)).status, 200)
  assert.equal(
    (await signIn(email, NEW_PASSWORD)).status,
    200,
    'two-factor of the thief is off too',
  )
  assertRefused(await signIn(`thief_${email}`, PASSWORD), 401, 'invalid_credentials')
  const others = (await mailsOf(person)).map(linkIn).filter((each) => each !== '' && each !== link)
  for (const other of others) assert.equal((await undo(other)).status, 410, 'other links are void')
})

test('the undo link works for 72 hours, cannot be guessed and is stored as a hash', async () => {
  const person = await openAccount(url)
  await turnOnTwoFactor(url, person.bearer, clock)
  const link = linkIn(await mailOf(person, 'two_factor_on'))
  const token = link.split('/').at(-1) ?? ''
  assert(token.length >= 43)
  await db.run('delete from notices where account_id = $1', [person.account_id])
  assert(!(await wholeDatabase(db)).includes(token))
  for (const forged of [`${link.slice(0, -3)}abc`, `${url}/undo/x`, `${url}/undo/%00`]) {
    assert((await undo(forged)).status >= 400, forged)
  }
  await advance(url, person.bearer, 72 * HOUR_S + 1)
  assert.equal((await fetch(link)).status, 410)
  assert.equal((await undo(link)).status, 410)
})

test('of two concurrent undos exactly one sets the password', async () => {
  const person = await openAccount(url)
  await turnOnTwoFactor(url, person.bearer, clock)
  const link = linkIn(await mailOf(person, 'two_factor_on'))
  const passwords = ['first of the passwords', 'second of the passwords']
  const responses = await Promise.all(passwords.map((password) => undo(link, password)))
  assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 410])
})
