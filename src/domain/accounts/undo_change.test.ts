import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startAgentService } from '#test/support/agent.ts'
import { assertRefused } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { openAccount, PASSWORD, type Person } from '#test/support/people.ts'

const { url, runtime } = await startAgentService()

const NEW_PASSWORD = 'a password only the owner knows'
const THIEF_PASSWORD = 'a password only the thief knows'

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
