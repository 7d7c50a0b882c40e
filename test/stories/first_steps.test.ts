import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { verifyAudit } from '#main/audit.ts'
import { startTestService } from '#test/support/start.ts'

const execute = promisify(execFile)
const { url, runtime } = await startTestService()

type CurlResponse = { status: number; body: Record<string, unknown> }

/** Calls the API with curl, as in the README. */
async function curl(
  method: string,
  path: string,
  bearer = '',
  body?: object,
): Promise<CurlResponse> {
  const words = ['-s', '-X', method, `${url}${path}`, '-w', '\n%{http_code}']
  if (bearer !== '') words.push('-H', `Authorization: Bearer ${bearer}`)
  if (body !== undefined) {
    words.push('-H', 'Content-Type: application/json', '-d', JSON.stringify(body))
  }
  const { stdout } = await execute('curl', words)
  const at = stdout.lastIndexOf('\n')
  const text = stdout.slice(0, at)
  return { status: Number(stdout.slice(at + 1)), body: text === '' ? {} : JSON.parse(text) }
}

test('a caller opens an account, uses a key and reads its actions in the audit log', async () => {
  const opening = { email: 'Ada@Example.com', password: 'correct horse battery staple' }
  const opened = await curl('POST', '/v1/accounts', '', opening)
  assert.equal(opened.status, 201)
  const session = String(opened.body['bearer'])

  const account = await curl('GET', '/v1/accounts/me', session)
  assert.equal(account.body['email'], 'ada@example.com')
  assert.equal(account.body['id'], opened.body['id'])

  const key = await curl('POST', '/v1/api_keys', session, { name: 'first steps' })
  assert.equal(key.status, 201)
  const bearer = String(key.body['key'])
  const changed = await curl('PATCH', '/v1/accounts/me', bearer, {
    notifications: { transaction_authorized: true, low_balance_threshold_usd: 12.34 },
  })
  assert.equal(changed.status, 200)
  assert.equal(changed.body['version'], 2)
  const notifications = changed.body['notifications'] as Record<string, unknown>
  assert.equal(notifications['low_balance_threshold_usd'], 12.34)

  const limits = await curl('GET', '/v1/system/limits', bearer)
  assert.equal(limits.status, 200)
  assert.equal((limits.body['credential'] as Record<string, unknown>)['type'], 'api_key')

  assert.equal((await curl('DELETE', `/v1/api_keys/${key.body['id']}`, session)).status, 204)
  const refused = await curl('GET', '/v1/accounts/me', bearer)
  assert.equal(refused.status, 401)
  assert.equal(refused.body['error'], 'token_revoked')
  assert.equal((await curl('DELETE', '/v1/sessions', session)).status, 204)
  assert.equal((await curl('GET', '/v1/accounts/me', session)).status, 401)

  const again = await curl('POST', '/v1/sessions', '', opening)
  assert.equal(again.status, 200)
  const log = await curl('GET', '/v1/audit_log?order=asc', String(again.body['bearer']))
  const entries = log.body['data'] as { action: string; actor: { type: string }; hash: string }[]
  assert.deepEqual(
    entries.map(({ action, actor }) => `${action} by ${actor.type}`),
    [
      'account.created by session',
      'api_key.created by session',
      'api_key.used by api_key',
      'account.updated by api_key',
      'api_key.used by api_key',
      'api_key.revoked by session',
      'session.ended by session',
      'session.created by session',
    ],
  )
  assert.ok(!JSON.stringify(log.body).includes(bearer), 'no secret is in the log')
  const { faults } = await verifyAudit(runtime.db)
  assert.deepEqual(faults, [])
})
