import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  allow,
  authorize,
  exchange,
  openConsent,
  registerAgent,
  startAgentService,
  startAuthorization,
} from '#test/support/agent.ts'
import { Browser, type LoadedPage } from '#test/support/browser.ts'
import { advance } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { operate } from '#test/support/operator.ts'
import { requestReset, resetPassword } from '#test/support/password_resets.ts'
import { openAccount, PASSWORD, type Person } from '#test/support/people.ts'
import { codeOf, turnOnTwoFactor } from '#test/support/second_factor.ts'

const service = await startAgentService()
const { url, runtime } = service
const { clock, db } = runtime
const agent = await registerAgent(url)

const MINUTE_S = 60
const patch = (person: Person, body: object) =>
  send(url, 'PATCH', '/v1/accounts/me', {
    bearer: person.bearer,
    body: { current_password: PASSWORD, ...body },
  })

const grantsOf = async ({ account_id }: Person) =>
  (await db.rows('select 1 from oauth_grants where account_id = $1', [account_id])).length

const asksForPassword = ({ text }: LoadedPage) => text.includes('name="password"')

type Change = { name: string; make(person: Person): Promise<unknown> }

const changes: readonly Change[] = [
  {
    name: 'a change of password',
    make: async (person) => patch(person, { password: 'another long password' }),
  },
  {
    name: 'a change of email',
    make: async (person) => patch(person, { email: `new_${person.email}` }),
  },
  {
    name: 'turning two-factor on',
    make: ({ bearer }) => turnOnTwoFactor(url, bearer, clock),
  },
  {
    name: 'a password reset',
    make: async ({ email }) => {
      const token = await requestReset(service, email)
      await resetPassword(url, { token, password: 'another long password' })
    },
  },
  {
    name: 'a suspension, also after it is lifted',
    make: async ({ account_id }) => {
      await operate(url, 'POST', `/accounts/${account_id}/suspend`)
      await operate(url, 'POST', `/accounts/${account_id}/reinstate`)
    },
  },
]

for (const { name, make } of changes) {
  test(`${name} ends the browser sessions at the authorization server and its open pages`, async () => {
    const [person, other] = [await openAccount(url), await openAccount(url)]
    const [thief, bystander] = [new Browser(url), new Browser(url)]
    const attempt = await startAuthorization(agent)
    const open = await openConsent(thief, attempt.url, person)
    await openConsent(bystander, (await startAuthorization(agent)).url, other)
    await make(person)
    assert.equal((await thief.open(open.url)).status, 400, 'the open page is over')
    assert.equal((await thief.submit(open, 'allow', { scope: 'account:read' })).status, 400)
    assert.equal(await grantsOf(person), 0)
    const again = await thief.open((await startAuthorization(agent)).url)
    assert(asksForPassword(again), 'the cookie opens nothing any more')
    const untouched = await bystander.open((await startAuthorization(agent)).url)
    assert(!asksForPassword(untouched), 'other accounts stay signed in')
  })
}

test('turning two-factor off ends the browser sessions too', async () => {
  const person = await openAccount(url)
  const { secret, recovery_codes } = await turnOnTwoFactor(url, person.bearer, clock)
  const browser = new Browser(url)
  const first = await browser.open((await startAuthorization(agent)).url)
  const { email, bearer } = person
  const prompt = await browser.submit(first, 'sign_in', { email, password: PASSWORD })
  const open = await browser.submit(prompt, 'code', { totp_code: codeOf(secret, clock, 1) })
  const body = { password: PASSWORD, totp_code: recovery_codes[0] }
  assert.equal((await send(url, 'DELETE', '/v1/accounts/me/totp', { bearer, body })).status, 204)
  assert.equal((await browser.open(open.url)).status, 400)
  assert(asksForPassword(await browser.open((await startAuthorization(agent)).url)))
})

test('a sign-in from before a password change is refused if it continues afterwards', async () => {
  const person = await openAccount(url)
  const browser = new Browser(url)
  const attempt = await startAuthorization(agent)
  const first = await browser.open(attempt.url)
  const { email } = person
  const next = await browser.post(first, 'sign_in', { email, password: PASSWORD })
  await patch(person, { password: 'another long password' })
  const shown = await browser.open(next)
  assert.equal(shown.status, 400, shown.text)
})

test('a browser session ends one hour after sign-in, even if it is in use', async () => {
  const person = await openAccount(url)
  const browser = new Browser(url)
  await authorize(agent, person, { browser })
  for (const _ of [1, 2, 3]) {
    await advance(url, person.bearer, 19 * MINUTE_S)
    const shown = await browser.open((await startAuthorization(agent)).url)
    assert(!asksForPassword(shown))
    await allow(browser, shown)
  }
  await advance(url, person.bearer, 4 * MINUTE_S)
  assert(asksForPassword(await browser.open((await startAuthorization(agent)).url)))
})

const SENSITIVE = ['withdrawal:create', 'card:reveal_pan']

for (const scope of SENSITIVE) {
  test(`${scope} is granted only within five minutes of the password`, async () => {
    const person = await openAccount(url)
    const browser = new Browser(url)
    const asking = { browser, scope: `account:read ${scope}`, scopes: [scope] }
    const fresh = await authorize(agent, person, asking)
    assert.equal(fresh.scope, scope)
    await advance(url, person.bearer, 5 * MINUTE_S + 1)

    const plain = await authorize(agent, person, { ...asking, scopes: ['account:read'] })
    assert.equal(plain.scope, 'account:read', 'other scopes need no password')
    const attempt = await startAuthorization(agent, asking)
    const consent = await openConsent(browser, attempt.url, person)
    const prompt = await browser.submit(consent, 'allow', { scope, cards: 'all' })
    assert.equal(prompt.status, 200)
    assert(asksForPassword(prompt), 'the page asks for the password again')
    const wrong = await browser.submit(prompt, 'confirm', { password: 'not the password' })
    assert.equal(wrong.status, 401)
    assert(asksForPassword(wrong))
    const confirmed = await browser.submit(wrong, 'confirm', { password: PASSWORD })
    const tokens = await exchange(agent, attempt, new URL(confirmed.url))
    assert.equal(tokens.scope, scope)
  })
}

test('a password cannot be left out of the confirmation', async () => {
  const person = await openAccount(url)
  const browser = new Browser(url)
  const attempt = await startAuthorization(agent, { scope: 'withdrawal:create' })
  const consent = await openConsent(browser, attempt.url, person)
  await advance(url, person.bearer, 5 * MINUTE_S + 1)
  for (const step of ['allow', 'confirm', 'code', 'sign_in', '']) {
    const shown = await browser.submit(consent, step, { scope: 'withdrawal:create' })
    assert(shown.url.startsWith(url), `${step} leads back to the client`)
  }
  assert.equal(await grantsOf(person), 0)
})

test('with two-factor authentication the confirmation asks for the code too', async () => {
  const person = await openAccount(url)
  const { secret, recovery_codes } = await turnOnTwoFactor(url, person.bearer, clock)
  const browser = new Browser(url)
  const attempt = await startAuthorization(agent, { scope: 'withdrawal:create' })
  const first = await browser.open(attempt.url)
  const code_page = await browser.submit(first, 'sign_in', {
    email: person.email,
    password: PASSWORD,
  })
  const consent = await browser.submit(code_page, 'code', { totp_code: codeOf(secret, clock, 1) })
  await advance(url, person.bearer, 5 * MINUTE_S + 1)
  const scope = 'withdrawal:create'
  const prompt = await browser.submit(consent, 'allow', { scope, cards: 'all' })
  const coded = await browser.submit(prompt, 'confirm', { password: PASSWORD })
  assert.match(coded.text, /name="totp_code"/)
  const wrong = await browser.submit(coded, 'confirm', { totp_code: '000000' })
  assert.equal(wrong.status, 401)
  assert.equal(await grantsOf(person), 0)
  const totp_code = String(recovery_codes[0])
  const confirmed = await browser.submit(wrong, 'confirm', { totp_code })
  assert.equal((await exchange(agent, attempt, new URL(confirmed.url))).scope, scope)
})
