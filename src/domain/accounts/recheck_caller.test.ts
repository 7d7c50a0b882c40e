import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keyOfText } from '#platform/postgres/advisory_key.ts'
import { assertRefused } from '#test/support/calls.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Reply, send } from '#test/support/http.ts'
import { createKey, openAccount, PASSWORD, type Person } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { subscribe } from '#test/support/webhooks.ts'

const { url, runtime } = await startTestService()
const { db } = runtime

/** Starts a call that has to wait for an earlier write of the account, which revokes its bearer. */
async function revokedMeanwhile(
  { account_id }: Person,
  call: () => Promise<Reply>,
): Promise<Reply> {
  const asked = await db.transaction(async (tx) => {
    await tx.rows(`select pg_advisory_xact_lock(${keyOfText(1)})`, [account_id])
    const reply = call()
    assert(await eventually(isSomeoneWaiting, { within_ms: 10_000 }))
    await tx.run(
      `update api_keys set status = 'revoked', revoked_at = now() where account_id = $1`,
      [account_id],
    )
    await tx.run('update sessions set ended_at = now() where account_id = $1', [account_id])
    return { reply }
  })
  return asked.reply
}

const isSomeoneWaiting = async () =>
  (await db.rows(`select 1 from pg_locks where locktype = 'advisory' and not granted`)).length > 0

const countOf = async (table: 'api_keys' | 'webhooks', { account_id }: Person) =>
  (await db.rows(`select 1 from ${table} where account_id = $1`, [account_id])).length

const WEBHOOK = { url: 'http://127.0.0.1:3999/thief', events: ['*'] }

test('a key that is revoked while its call waits creates no other key and no webhook', async () => {
  for (const [path, body] of [
    ['/v1/api_keys', {}],
    ['/v1/webhooks', WEBHOOK],
  ] as const) {
    const person = await openAccount(url)
    const { key } = await createKey(url, person.bearer)
    const call = () => send(url, 'POST', path, { bearer: key, body })
    assertRefused(await revokedMeanwhile(person, call), 401, 'token_revoked')
    assert.deepEqual([await countOf('api_keys', person), await countOf('webhooks', person)], [1, 0])
  }
})

test('a key that is revoked while its call waits moves no webhook', async () => {
  const person = await openAccount(url)
  const { key } = await createKey(url, person.bearer)
  const { id } = await subscribe(url, person, { url: 'http://127.0.0.1:3999/owner' })
  const body = { url: WEBHOOK.url }
  const call = () => send(url, 'PATCH', `/v1/webhooks/${id}`, { bearer: key, body })
  assertRefused(await revokedMeanwhile(person, call), 401, 'token_revoked')
  const [webhook] = await db.rows<{ url: string }>('select url from webhooks where id = $1', [id])
  assert.equal(webhook?.url, 'http://127.0.0.1:3999/owner')
})

test('a session that ends while its call waits changes neither email nor second factor', async () => {
  const person = await openAccount(url)
  const { bearer, email } = person
  const body = { email: `thief_${email}`, current_password: PASSWORD }
  const change = () => send(url, 'PATCH', '/v1/accounts/me', { bearer, body })
  assertRefused(await revokedMeanwhile(person, change), 401, 'token_revoked')

  const other = await openAccount(url)
  const enable = () => send(url, 'POST', '/v1/accounts/me/totp', { bearer: other.bearer })
  assertRefused(await revokedMeanwhile(other, enable), 401, 'token_revoked')
  const rows = await db.rows<{ email: string; totp_status: string }>(
    'select email, totp_status from accounts where id = any($1) order by id',
    [[person.account_id, other.account_id]],
  )
  assert.deepEqual(rows, [
    { email, totp_status: 'disabled' },
    { email: other.email, totp_status: 'disabled' },
  ])
})
