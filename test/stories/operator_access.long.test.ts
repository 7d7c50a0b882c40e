import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { type TOTP, URI } from 'otpauth'
import { operator_operations } from '#contract/operator/operations.ts'
import { operatorOf } from '#domain/operators/operator_token.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { assertRefused } from '#test/support/calls.ts'
import { florin } from '#test/support/florin_process.ts'
import { OPERATOR_TOKEN, operate } from '#test/support/operator.ts'
import { startTestService } from '#test/support/start.ts'

const DAY_MS = 24 * 60 * 60_000
const clock = systemClock()
const { url, database_url, data_dir, runtime } = await startTestService({ dependencies: { clock } })
const env = { FLORIN_DATABASE_URL: database_url, FLORIN_DATA_DIR: data_dir }

async function createToken(...words: string[]) {
  const { code, stdout, stderr } = await florin(['operator', 'create', ...words], env)
  assert.equal(code, 0, stderr)
  return { bearer: stdout.trim(), uri: /otpauth:\S+/.exec(stderr)?.[0] ?? '' }
}

const ask = (bearer: string, path = '/tickets') => operate(url, 'GET', path, { bearer })
const signIn = (bearer: string, totp_code: string) =>
  operate(url, 'POST', '/sessions', { bearer, body: { totp_code } })

test('a token with two-factor needs a code, a code works once, and sessions expire', async () => {
  const { bearer, uri } = await createToken('Ada', '--role', 'support', '--totp')
  const totp = URI.parse(uri) as TOTP
  assertRefused(await ask(bearer), 401, 'totp_required')
  assertRefused(await signIn(bearer, '000000'), 401, 'totp_invalid')
  assertRefused(await signIn('flo_test_nobody', totp.generate()), 401, 'invalid_token')
  const code = totp.generate()
  const session = await signIn(bearer, code)
  assert.equal(session.status, 200, session.text)
  const own = String(session.body['bearer'])
  assert.equal((await ask(own)).status, 200)
  assertRefused(await signIn(bearer, code), 401, 'totp_invalid')
  assertRefused(await ask(own.replace(/_\d+_/, `_${Date.now() + DAY_MS}_`)), 401, 'invalid_token')
  assertRefused(await ask(bearer), 401, 'totp_required')
  clock.setOffset(clock.offset_ms() + DAY_MS / 3 + 1_000)
  assertRefused(await ask(own), 401, 'token_expired')
  assert.equal((await florin(['operator', 'revoke', 'Ada'], env)).code, 0)
  assertRefused(await signIn(bearer, totp.generate()), 401, 'token_revoked')
})

test('a session ends with its token', async () => {
  const { bearer, uri } = await createToken('Eve', '--role', 'viewer', '--totp')
  const session = await signIn(bearer, (URI.parse(uri) as TOTP).generate())
  const own = String(session.body['bearer'])
  assert.equal((await ask(own)).status, 200)
  await florin(['operator', 'revoke', 'Eve'], env)
  assertRefused(await ask(own), 401, 'token_revoked')
})

test('a new authenticator secret replaces the old one and ends its sessions', async () => {
  // The command uses the real time.
  const began = clock.offset_ms()
  clock.setOffset(0)
  const { bearer, uri } = await createToken('Kay', '--role', 'viewer', '--totp')
  const old_totp = URI.parse(uri) as TOTP
  const session = String((await signIn(bearer, old_totp.generate())).body['bearer'])
  assert.equal((await ask(session)).status, 200)
  const { code, stdout } = await florin(['operator', 'totp', 'Kay'], env)
  assert.equal(code, 0)
  assertRefused(await ask(session), 401, 'token_expired')
  assertRefused(await signIn(bearer, old_totp.generate()), 401, 'totp_invalid')
  const again = await signIn(bearer, (URI.parse(stdout.trim()) as TOTP).generate())
  assert.equal(again.status, 200, again.text)
  assert.equal((await ask(String(again.body['bearer']))).status, 200)
  await florin(['operator', 'revoke', 'Kay'], env)
  assert.equal((await florin(['operator', 'totp', 'Kay'], env)).code, 1)
  clock.setOffset(began)
})

test('an operator token expires after 90 days or its own term; the sandbox token does not', async () => {
  const ninety = await createToken('Ninety', '--role', 'viewer')
  const env_one = { ...env, FLORIN_OPERATOR_TOKEN_DAYS: '1' }
  const made = await florin(['operator', 'create', 'One', '--role', 'viewer'], env_one)
  const one = made.stdout.trim()
  assert.equal((await ask(one)).status, 200)
  const began = clock.offset_ms()
  clock.setOffset(began + DAY_MS + 1_000)
  assertRefused(await ask(one), 401, 'token_expired')
  clock.setOffset(began + 89 * DAY_MS)
  assert.equal((await ask(ninety.bearer)).status, 200)
  clock.setOffset(began + 90 * DAY_MS + 1_000)
  assertRefused(await ask(ninety.bearer), 401, 'token_expired')
  assert.equal((await ask(OPERATOR_TOKEN)).status, 200)
  clock.setOffset(began)
})

test('the token in the settings can expire a number of days after its first use', async () => {
  const settings = { ...runtime.settings, first_operator_token_days: 90 }
  const operatorAt = (days: number) => {
    const now = new Date(Date.now() + days * DAY_MS)
    return operatorOf(OPERATOR_TOKEN, { ...runtime, settings, now })
  }
  assert.equal((await operatorAt(0)).role, 'admin')
  assert.equal((await operatorAt(89)).role, 'admin')
  await assert.rejects(operatorAt(91), { code: 'token_expired' })
})

/** Reads of the program as a whole. */
const WITHOUT_CUSTOMER = [
  'operator_get_figures',
  'operator_get_health',
  'operator_get_reconciliation',
  'operator_list_kill_switches',
]

const required_queries: Readonly<Record<string, string>> = {
  operator_get_figures: '?from=2026-11-01&to=2026-11-01',
  operator_list_transactions: `?account_id=acct_${'0'.repeat(26)}`,
}

test('every read by an operator is recorded, except those that show no customer', async () => {
  const { bearer } = await createToken('Reader', '--role', 'admin')
  const expected: string[] = []
  for (const call of Object.values(operator_operations).filter(({ method }) => method === 'GET')) {
    const id = `${/\/(\w)/.exec(call.path)?.[1] === 'd' ? 'dsp' : 'acct'}_${'0'.repeat(26)}`
    const query = required_queries[call.name] ?? ''
    const reply = await ask(
      bearer,
      call.path.replace('{id}', id).replace('{evidence_id}', `evd_${'0'.repeat(26)}`) + query,
    )
    const expects = call.path.includes('{') ? 404 : 200
    assert.equal(reply.status, expects, `${call.name}: ${reply.text}`)
    if (!WITHOUT_CUSTOMER.includes(call.name)) expected.push(call.name)
  }
  const recorded = await runtime.db.rows<{ action: string }>(
    `select action from operator_actions where operator_name = 'Reader' order by id`,
  )
  assert.deepEqual(
    recorded.map(({ action }) => action),
    expected,
  )
})

test('the record of a read names the operator and the input', async () => {
  const { bearer } = await createToken('Searcher', '--role', 'viewer')
  await ask(bearer, '/cards?last4=1234')
  await ask(bearer, '/accounts/acct_00000000000000000000000000')
  const { body } = await ask(OPERATOR_TOKEN, '/actions')
  const actions = body['data'] as { action: string; operator: { name: string }; input: object }[]
  const read = actions.filter(({ operator }) => operator.name === 'Searcher')
  assert.deepEqual(
    read.map(({ action, input }) => [action, input]),
    [
      ['operator_get_account', { id: 'acct_00000000000000000000000000' }],
      ['operator_list_cards', { last4: '1234' }],
    ],
  )
})

/** fetch can't set the Host header. */
function statusAt(at: string, host: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { host, authorization: `Bearer ${OPERATOR_TOKEN}` }
    request(`${at}${path}`, { headers }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
      .on('error', reject)
      .end()
  })
}

test('a separate console origin serves the console and nothing else', async () => {
  const apart = await startTestService({ env: { FLORIN_OPERATOR_URL: 'https://ops.example' } })
  const at = (host: string, path: string) => statusAt(apart.url, host, path)
  for (const path of ['/operator', '/operator/v1/tickets', '/operator/openapi.json']) {
    assert.equal(await at('ops.example', path), 200, path)
    assert.equal(await at('ops.example:443', path), 200, path)
    assert.equal(await at('cards.example', path), 404, path)
  }
  for (const path of ['/v1/system/health', '/openapi.json', '/sign_in', '/mcp']) {
    assert.equal(await at('ops.example', path), 404, path)
    assert.notEqual(await at('cards.example', path), 404, path)
  }
  assert.equal(await at('ops.example', '/'), 302)
  assert.equal(await at('ops.example', '/healthz'), 200)
  assert.equal(runtime.settings.operator_url, null)
})
