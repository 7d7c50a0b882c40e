import assert from 'node:assert/strict'
import { test } from 'node:test'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { operate } from '#test/support/operator.ts'
import { NO_BROWSER, startBrowser, visitOf } from '#test/support/panel_page.ts'
import { emailedTokens } from '#test/support/password_resets.ts'
import { createKey, openAccount, PASSWORD } from '#test/support/people.ts'
import { codeOf, turnOnTwoFactor } from '#test/support/second_factor.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service
const { clock } = service.runtime
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false
const NEW_PASSWORD = 'seven quiet lamps at noon'

async function emailedLink(email: string): Promise<string> {
  let tokens: string[] = []
  const isEmailed = async () => {
    tokens = await emailedTokens(service, email)
    return tokens.length > 0
  }
  assert(await eventually(isEmailed, { within_ms: 15_000 }))
  return `/reset_password?token=${tokens[0]}`
}

test('a forgotten password is reset with the emailed link and a code', { skip }, async () => {
  if (browser === null) return
  const person = await openAccount(url)
  const { secret } = await turnOnTwoFactor(url, person.bearer, clock)
  const { page, complaints } = await visitOf(browser, { url })
  await page.goto('/sign_in')
  await page.getByLabel('Email').fill(person.email)
  await page.getByRole('link', { name: 'Forgot password?' }).click()
  assert.equal(await page.getByLabel('Email').inputValue(), person.email)
  await page.getByRole('button', { name: 'Send reset link' }).click()
  await page.getByRole('heading', { name: 'Check your email' }).waitFor()
  await page.getByText('florin sandbox inbox').waitFor()

  await page.goto(await emailedLink(person.email))
  await page.getByLabel('New password').fill('short')
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('New password').fill(NEW_PASSWORD)
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByLabel('Authentication code').fill(codeOf(secret, clock, 1))
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('Sign in with your new password.').waitFor()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  assert.equal(new URL(page.url()).search, '', 'the token has left the address bar')
  const refusals = complaints.filter((text) => !/status of 4(01|22)/.test(text))
  assert.deepEqual(refusals, [])
})

test('a used link says so and leads to a new one, also for someone who is signed in', {
  skip,
}, async () => {
  if (browser === null) return
  const person = await openAccount(url)
  const { page } = await visitOf(browser, { url, bearer: person.bearer })
  await page.goto('/reset_password?token=used')
  await page.getByLabel('New password').fill(NEW_PASSWORD)
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByRole('heading', { name: 'This link doesn’t work' }).waitFor()
  assert.equal(await page.getByLabel('New password').count(), 0, 'another password can’t help')
  await page.getByRole('link', { name: 'Request a new link' }).click()
  await page.getByRole('button', { name: 'Send reset link' }).waitFor()
})

test('the security page lists sessions and sign-ins, and ends a session', { skip }, async () => {
  if (browser === null) return
  const person = await openAccount(url)
  const { email, bearer } = person
  const sent = { body: { email, password: PASSWORD }, headers: { 'user-agent': 'curl/8.5.0' } }
  const other = String((await send(url, 'POST', '/v1/sessions', sent)).body['bearer'])
  await send(url, 'POST', '/v1/sessions', { body: { email, password: 'wrong password' } })
  const { page } = await visitOf(browser, { url, bearer })
  await page.goto('/security')
  const sessions = page.getByRole('table', { name: 'Sessions' }).getByRole('row')
  await sessions.filter({ hasText: 'This device' }).waitFor()
  assert.match(await sessions.nth(1).innerText(), /This device/, 'first, below the titles')
  const sign_ins = page.getByRole('table', { name: 'Recent sign-ins' })
  await sign_ins.getByText('Failed').waitFor()
  await sign_ins.getByText('Signed in').waitFor()
  await sessions.filter({ hasText: 'curl' }).getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('Session ended.').waitFor()
  await sessions.filter({ hasText: 'curl' }).waitFor({ state: 'detached' })
  assert.equal((await send(url, 'GET', '/v1/accounts/me', { bearer: other })).status, 401)

  await sessions.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('signing out everywhere else ends all other sessions, and keys keep working', {
  skip,
}, async () => {
  if (browser === null) return
  const { email, bearer } = await openAccount(url)
  const { key } = await createKey(url, bearer)
  const signIn = async () => {
    const { body } = await send(url, 'POST', '/v1/sessions', {
      body: { email, password: PASSWORD },
    })
    return String(body['bearer'])
  }
  const others = [await signIn(), await signIn(), await signIn()]
  const { page, complaints } = await visitOf(browser, { url, bearer })
  await page.goto('/security')
  const sessions = page.getByRole('table', { name: 'Sessions' }).getByRole('row')
  await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
  const dialog = page.getByRole('dialog', { name: 'Sign out everywhere else?' })
  await dialog.getByRole('button', { name: 'Sign out everywhere else' }).click()
  await page.getByText('Signed out everywhere else.').waitFor()
  await sessions.nth(2).waitFor({ state: 'detached' })
  assert.match(await sessions.nth(1).innerText(), /This device/)
  assert.equal(await page.getByRole('button', { name: 'Sign out everywhere else' }).count(), 0)
  const statusFor = async (each: string) =>
    (await send(url, 'GET', '/v1/accounts/me', { bearer: each })).status
  for (const other of others) assert.equal(await statusFor(other), 401)
  assert.equal(await statusFor(bearer), 200)
  assert.equal(await statusFor(key), 200)
  assert.deepEqual(complaints, [])
})

test('a card is renamed in place', { skip }, async () => {
  if (browser === null) return
  const { bearer } = await openHolder(service)
  const card = await issueCard(url, bearer)
  const { page } = await visitOf(browser, { url, bearer, width: 360 })
  await page.goto(`/cards/${card.id}`)
  await page.getByRole('button', { name: 'Rename card' }).click()
  await page.getByLabel('Card name').fill('Groceries')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Groceries', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Rename card' }).click()
  await page.getByLabel('Card name').fill('Never mind')
  await page.keyboard.press('Escape')
  await page.getByRole('heading', { name: 'Groceries', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Rename card' }).click()
  await page.getByLabel('Card name').fill('')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: `Card ${card.last4}`, level: 1 }).waitFor()
})

test('a resolved ticket opens again with a reply, and a closed one takes none', {
  skip,
}, async () => {
  if (browser === null) return
  const { bearer } = await openHolder(service)
  await issueCard(url, bearer)
  const body = { subject: 'Where is my card?', message: 'Still not here.', category: 'card' }
  const ticket = await send(url, 'POST', '/v1/tickets', { bearer, body })
  const id = String(ticket.body['id'])
  await operate(url, 'POST', `/tickets/${id}/reply`, {
    body: { message: 'It was delivered today.', status: 'resolved' },
  })
  const { page, complaints } = await visitOf(browser, { url, bearer })
  await page.goto(`/tickets/${id}`)
  await page.getByText('reply to open it again').waitFor()
  await page.getByLabel('Your reply').fill('It is not in my mailbox.')
  await page.getByRole('button', { name: 'Send reply' }).click()
  const messages = page.getByRole('list', { name: 'Messages' }).getByRole('listitem')
  await messages.filter({ hasText: 'not in my mailbox' }).waitFor()
  await page.getByText('We got your message.').waitFor()
  assert.equal(await page.getByLabel('Your reply').inputValue(), '')

  await operate(url, 'PATCH', `/tickets/${id}`, { body: { status: 'closed' } })
  await page.reload()
  await page.getByText('This ticket is closed.').waitFor()
  assert.equal(await page.getByLabel('Your reply').count(), 0)
  assert.deepEqual(complaints, [])
})
