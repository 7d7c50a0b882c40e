import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { one_cell } from '#test/support/account_cell.ts'
import { advance, assertRefused, auditLog } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { wholeDatabase } from '#test/support/leaks.ts'
import { operate } from '#test/support/operator.ts'
import { askForReset, emailedTokens, requestReset } from '#test/support/password_resets.ts'
import { openAccount, PASSWORD } from '#test/support/people.ts'
import { rowCounts } from '#test/support/row_counts.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url, runtime, owner_db } = service
const limited = await startTestService({
  env: { FLORIN_RATE_PROFILE: 'default', FLORIN_TRUSTED_PROXIES: '127.0.0.1' },
})

/** An email without an account, another one each time. */
const nobody = () => `nobody_${randomBytes(5).toString('hex')}@example.com`

test('the response is the same whether or not the account exists', async () => {
  const { email } = await openAccount(url)
  const [known, unknown] = [await askForReset(url, email), await askForReset(url, nobody())]
  for (const reply of [known, unknown]) {
    assert.deepEqual([reply.status, reply.text], [202, '{}'])
    assert.equal(reply.headers.get('cache-control'), 'no-store')
  }
  const names = (reply: typeof known) => [...reply.headers.keys()].sort()
  assert.deepEqual(names(known), names(unknown))
})

test('the call reads no account and does the same work for any email', async () => {
  const { email } = await openAccount(url)
  // It counts the rows of one database.
  const alone = await startTestService({ env: one_cell })
  await alone.tasks.stop()
  const added: Record<string, bigint>[] = []
  // An exclusive lock stops every statement that so much as reads the table.
  await alone.owner_db.transaction(async (tx) => {
    await tx.run('lock table accounts in access exclusive mode')
    for (const each of [email, nobody()]) {
      const before = await rowCounts(tx)
      assert.equal((await askForReset(alone.url, each)).status, 202)
      const after = Object.entries(await rowCounts(tx))
      added.push(
        Object.fromEntries(after.map(([name, rows]) => [name, rows - (before[name] ?? 0n)])),
      )
    }
  })
  assert.deepEqual(added[0], added[1])
  assert.equal(added[0]?.['password_reset_requests'], 1n)
})

test('an existing account gets one email with a link, and the request is audited', async () => {
  const person = await openAccount(url)
  const token = await requestReset(service, person.email)
  const { body } = await send(url, 'GET', '/sandbox/v1/inbox', person)
  const [mail, ...rest] = body['data'].filter(
    ({ kind }: { kind: string }) => kind === 'password_reset_link',
  )
  assert.deepEqual(rest, [])
  assert.equal(mail.to, person.email)
  assert.equal(mail.subject, '[Sandbox] Reset your password')
  const link = `${runtime.settings.public_url}/reset_password?token=${token}`
  assert.ok(mail.text.split('\n').includes(link))
  assert.ok(mail.html.includes(`href="${link}"`))
  assert.match(mail.text, /30 minutes/)
  assert.match(mail.text, /IP address: 127\.0\.0\.1/)
  const [entry] = await auditLog(url, person.bearer, '&action=request_password_reset')
  assert.deepEqual(
    [entry?.operation, entry?.ip, entry?.resource],
    ['request_password_reset', '127.0.0.1', { type: 'account', id: person.account_id }],
  )
})

test('the email is compared without case', async () => {
  const { email } = await openAccount(url)
  assert.equal((await askForReset(url, email.toUpperCase())).status, 202)
  assert.equal((await emailedTokens(service, email)).length, 1)
})

test('an unknown email and a suspended account get no email, and the request is not kept', async () => {
  const unknown = nobody()
  const { email, account_id } = await openAccount(url)
  await operate(url, 'POST', `/accounts/${account_id}/suspend`)
  for (const each of [unknown, email]) {
    assert.equal((await askForReset(url, each)).status, 202)
    assert.deepEqual(await emailedTokens(service, each), [])
  }
  assert.deepEqual(await owner_db.rows('select 1 from password_reset_requests'), [])
  assert.deepEqual(await owner_db.rows('select 1 from notices where recipient = $1', [unknown]), [])
})

test('only a hash of the token is stored, and a sent email keeps none', async () => {
  const { email } = await openAccount(url)
  const token = await requestReset(service, email)
  await owner_db.run(`update notices set body_text = '', body_html = '' where recipient = $1`, [
    email,
  ])
  assert.ok(!(await wholeDatabase(owner_db)).includes(token))
})

test('the sixth request of an hour for one email is refused, known or unknown', async () => {
  const { email, bearer } = await openAccount(url)
  for (const each of [email, nobody()]) {
    for (let at = 0; at < 5; at += 1) assert.equal((await askForReset(url, each)).status, 202)
    const sixth = await askForReset(url, each.toUpperCase())
    assertRefused(sixth, 429, 'rate_limited')
    const seconds = Number(sixth.headers.get('retry-after'))
    assert.ok(seconds > 3_500 && seconds <= 3_600, String(seconds))
    assert.equal((await askForReset(url, nobody())).status, 202, 'others are not affected')
  }
  assert.equal((await emailedTokens(service, email)).length, 5)
  await advance(url, bearer, 3_601)
  assert.equal((await askForReset(url, email)).status, 202)
})

test('concurrent requests do not pass the limit', async () => {
  const email = nobody()
  const replies = await Promise.all(Array.from({ length: 12 }, () => askForReset(url, email)))
  assert.equal(replies.filter(({ status }) => status === 202).length, 5)
})

test('the sixth request of an hour from one address is refused, whatever the email', async () => {
  const from = (ip: string) => askForReset(limited.url, nobody(), { 'x-forwarded-for': ip })
  for (let at = 0; at < 5; at += 1) assert.equal((await from('198.51.100.7')).status, 202)
  assertRefused(await from('198.51.100.7'), 429, 'rate_limited')
  assert.equal((await from('198.51.100.8')).status, 202)
})

test('a repeat with the same Idempotency-Key sends no second email and does not count', async () => {
  const { email } = await openAccount(url)
  for (let at = 0; at < 8; at += 1) {
    const reply = await send(url, 'POST', '/v1/password_resets', { body: { email }, key: 'once' })
    assert.deepEqual([reply.status, reply.text], [202, '{}'])
  }
  assert.equal((await emailedTokens(service, email)).length, 1)
})

test('the password works until the link is used', async () => {
  const { email } = await openAccount(url)
  await requestReset(service, email)
  const body = { email, password: PASSWORD }
  assert.equal((await send(url, 'POST', '/v1/sessions', { body })).status, 200)
})

test('a malformed request is refused', async () => {
  for (const body of [{}, { email: 'x' }, { email: 'a@b.cc', more: 1 }]) {
    const reply = await send(url, 'POST', '/v1/password_resets', { body })
    assertRefused(reply, 400, 'invalid_request')
  }
})
