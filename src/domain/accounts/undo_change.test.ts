import assert from 'node:assert/strict'
import { test } from 'node:test'
import { STANDARD_NOTIFICATIONS } from '#domain/accounts/account.ts'
import { updateAccountRow } from '#domain/accounts/account_store.ts'
import { createUndo } from '#domain/credentials/security_undo.ts'
import { startAgentService } from '#test/support/agent.ts'
import { advance, assertRefused } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { openAccount, PASSWORD, type Person } from '#test/support/people.ts'

const { url, runtime } = await startAgentService()

const NEW_PASSWORD = 'a password only the owner knows'
const THIEF_PASSWORD = 'a password only the thief knows'

const signUp = (email: string) =>
  send(url, 'POST', '/v1/accounts', { body: { email, password: THIEF_PASSWORD } })
const changeEmail = (bearer: string, email: string) =>
  send(url, 'PATCH', '/v1/accounts/me', { bearer, body: { email, current_password: PASSWORD } })
const signIn = (email: string, password: string) =>
  send(url, 'POST', '/v1/sessions', { body: { email, password } })
const undo = async (link: string, password: string) =>
  (await fetch(link, { method: 'POST', body: new URLSearchParams({ password }) })).status

/** The undo link in the email about a changed address, by the address that it was sent to. */
async function linkTo({ account_id }: Person, recipient: string): Promise<string> {
  const [mail] = await runtime.db.rows<{ text: string }>(
    `select body_text as text from notices
      where account_id = $1 and recipient = $2 and kind = 'email_changed'`,
    [account_id, recipient],
  )
  return /http\S+\/undo\/\S+/.exec(mail?.text ?? '')?.[0] ?? assert.fail('there is no link')
}

test('a thief who uses the undo link of a second change does not end the owner’s link', async () => {
  const owner = await openAccount(url)
  const { bearer, email } = owner
  assert.equal((await changeEmail(bearer, `thief_${email}`)).status, 200)
  assert.equal((await changeEmail(bearer, `thief_2_${email}`)).status, 200)
  assert.equal(await undo(await linkTo(owner, `thief_${email}`), THIEF_PASSWORD), 200)

  assert.equal(await undo(await linkTo(owner, email), NEW_PASSWORD), 200)
  assert.equal((await signIn(email, NEW_PASSWORD)).status, 200)
  for (const lost of [`thief_${email}`, `thief_2_${email}`]) {
    assertRefused(await signIn(lost, THIEF_PASSWORD), 401, 'invalid_credentials')
  }
})

test('the owner’s link ends the links of every later change', async () => {
  const owner = await openAccount(url)
  const { bearer, email } = owner
  await changeEmail(bearer, `thief_${email}`)
  await changeEmail(bearer, `thief_2_${email}`)
  assert.equal(await undo(await linkTo(owner, email), NEW_PASSWORD), 200)
  assert.equal(await undo(await linkTo(owner, `thief_${email}`), THIEF_PASSWORD), 410)
})

test('a sign-up with the old address is refused while the owner’s link works, and the link works', async () => {
  const owner = await openAccount(url)
  const { bearer, email } = owner
  assert.equal((await changeEmail(bearer, `thief_${email}`)).status, 200)
  const taken = await signUp(`thief_${email}`)
  const refused = await signUp(email.toUpperCase())
  assertRefused(refused, 409, 'email_taken')
  assert.equal(refused.body['message'], taken.body['message'])

  assert.equal(await undo(await linkTo(owner, email), NEW_PASSWORD), 200)
  assert.equal((await signIn(email, NEW_PASSWORD)).body['account_id'], owner.account_id)
  assert.equal((await signUp(`thief_${email}`)).status, 201, 'the thief’s address is free')
})

test('no other account can change to the old address while its link works', async () => {
  const [owner, thief] = [await openAccount(url), await openAccount(url)]
  await changeEmail(owner.bearer, `thief_${owner.email}`)
  assertRefused(await changeEmail(thief.bearer, owner.email), 409, 'email_taken')
  assert.equal(await undo(await linkTo(owner, owner.email), NEW_PASSWORD), 200)
})

test('an account can change back to the old address, which is then its own', async () => {
  const { bearer, email } = await openAccount(url)
  await changeEmail(bearer, `new_${email}`)
  assert.equal((await changeEmail(bearer, email)).status, 200)
  assertRefused(await signUp(email), 409, 'email_taken')
  assertRefused(await signUp(`new_${email}`), 409, 'email_taken')
})

test('a sign-up with the old address is refused while the change is being committed', async () => {
  const { account_id, email } = await openAccount(url)
  const now = runtime.clock.now()
  const notifications = STANDARD_NOTIFICATIONS
  const change = { email: `new_${email}`, password_hash: '-', notifications }
  await runtime.db.transaction(async (tx) => {
    await updateAccountRow(tx, { id: account_id, ...change, now })
    await createUndo(tx, runtime, { account_id, email, kind: 'email_changed', now })
    assertRefused(await signUp(email), 409, 'email_taken')
  })
  assertRefused(await signUp(email), 409, 'email_taken')
})

test('the old address is free when the link has expired', async () => {
  const [owner, other] = [await openAccount(url), await openAccount(url)]
  await changeEmail(owner.bearer, `new_${owner.email}`)
  await changeEmail(other.bearer, `new_${other.email}`)
  await advance(url, owner.bearer, 72 * 3_600 - 60)
  assertRefused(await signUp(owner.email), 409, 'email_taken')
  await advance(url, owner.bearer, 61)
  assert.equal(await undo(await linkTo(owner, owner.email), NEW_PASSWORD), 410)
  assert.equal((await signUp(owner.email)).status, 201)
  assert.equal((await changeEmail(owner.bearer, other.email)).status, 200)
})
