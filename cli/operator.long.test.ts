import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret, TOTP } from 'otpauth'
import { operator_roles } from '#contract/operator/roles.ts'
import { assertRefused } from '#test/support/calls.ts'
import { florin } from '#test/support/florin_process.ts'
import { OPERATOR_TOKEN, operate } from '#test/support/operator.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const { url, database_url, data_dir } = await startTestService()
const env = { FLORIN_DATABASE_URL: database_url, FLORIN_DATA_DIR: data_dir }

const command = (...words: string[]) => florin(['operator', ...words], env)
const tokenIn = (output: string) => /^flo_test_\S+$/m.exec(output)?.[0] ?? ''

async function createToken(name: string, role: string): Promise<string> {
  const { code, output } = await command('create', name, '--role', role)
  assert.equal(code, 0, output)
  return tokenIn(output)
}

test('a token of each role works immediately with the running service and is listed', async () => {
  for (const role of operator_roles) {
    const bearer = await createToken(`Ada the ${role}`, role)
    assert.equal((await operate(url, 'GET', '/tickets', { bearer })).status, 200)
    const actions = await operate(url, 'GET', '/actions', { bearer })
    assert.equal(actions.status, role === 'admin' ? 200 : 403, `${role}: ${actions.text}`)
    const { output } = await command('list')
    assert.match(output, new RegExp(`active  ${role} +Ada the ${role}  used`))
    assert(!output.includes(bearer), 'a token is shown only once')
  }
  const { output } = await command('list', '--json')
  const rows = JSON.parse(output) as { role: string; revoked_at: string | null }[]
  assert.deepEqual(rows.map(({ role }) => role).toSorted(), [...operator_roles].toSorted())
})

test('revoking by name or ID takes effect immediately and works only once', async () => {
  const bearer = await createToken('Grace', 'support')
  assert.equal((await operate(url, 'GET', '/tickets', { bearer })).status, 200)
  assert.equal((await command('revoke', 'Grace')).code, 0)
  assertRefused(await operate(url, 'GET', '/tickets', { bearer }), 401, 'token_revoked')
  const again = await command('revoke', 'Grace')
  assert.deepEqual([again.code, /no active operator token "Grace"/.test(again.output)], [1, true])

  const next = await createToken('Grace', 'viewer')
  const { output } = await command('list', '--json')
  const rows = JSON.parse(output) as { id: string; name: string; revoked_at: string | null }[]
  const live = rows.find(({ name, revoked_at }) => name === 'Grace' && revoked_at === null)
  assert.equal((await command('revoke', live?.id ?? '')).code, 0)
  assertRefused(await operate(url, 'GET', '/tickets', { bearer: next }), 401, 'token_revoked')
})

test('an unknown role and a name in use are refused with a readable message', async () => {
  const role = await command('create', 'Eve', '--role', 'owner')
  assert.deepEqual([role.code, /A role must be one of viewer/.test(role.output)], [78, true])
  assert.notEqual((await command('create', 'Eve')).code, 0)
  await createToken('Eve', 'viewer')
  const taken = await command('create', 'Eve', '--role', 'viewer')
  assert.deepEqual([taken.code, tokenIn(taken.output)], [78, ''])
})

test('every operator call is a command with tables, JSON and exit codes', async () => {
  const at = { FLORIN_URL: url, FLORIN_OPERATOR_TOKEN: OPERATOR_TOKEN }
  const ask = (...words: string[]) => florin(['operator', ...words], at)
  const { account_id, email } = await openAccount(url)

  const found = await ask('list_accounts', '--email', email)
  const [header = '', row = ''] = found.stdout.split('\n')
  assert.match(header, /^balance +owed +email +status .* id$/)
  assert.match(row, new RegExp(`^ *\\$0\\.00 .* ${email} +active .* ${account_id}$`))
  const limits = ['set-account-limits', account_id, '--withdrawal_daily_usd', '250', '--json']
  assert.equal(JSON.parse((await ask(...limits)).stdout).own_limits.withdrawal_daily_usd, 250)
  for (const on of ['true', 'false']) {
    const words = ['set_kill_switch', 'issuing', '--on', on, '--reason', 'a drill']
    const { stdout } = await ask(...words, '--idempotency_key', `drill-${on}`)
    assert.match(stdout, new RegExp(`^on +${on}$`, 'm'))
  }
  const listed = await ask('list_actions', '--json')
  const actions = JSON.parse(listed.stdout) as { data: { action: string }[] }
  assert.deepEqual(
    actions.data.slice(0, 4).map(({ action }) => action),
    [
      'operator_list_actions',
      'operator_set_kill_switch',
      'operator_set_kill_switch',
      'operator_set_account_limits',
    ],
  )

  assert.equal((await ask('get_account', 'acct_01kc3z8e5xf8m9r4t2v6w7y8za')).code, 4)
  assert.equal((await ask('list_actions', '--token', 'flo_test_nobody')).code, 3)
  const without = await florin(['operator', 'get_health'], { FLORIN_URL: url })
  assert.deepEqual([without.code, /FLORIN_OPERATOR_TOKEN/.test(without.stderr)], [2, true])
})

test('--all lists every row of the accounts and of the recorded actions, each once', async () => {
  const at = { FLORIN_URL: url, FLORIN_OPERATOR_TOKEN: OPERATOR_TOKEN }
  const ask = (...words: string[]) => florin(['operator', ...words], at)
  const opened = await Promise.all(Array.from({ length: 5 }, () => openAccount(url)))
  const idsIn = (stdout: string) =>
    stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id)
  const accounts = idsIn((await ask('list_accounts', '--all', '--limit', '2', '--json')).stdout)
  assert.equal(new Set(accounts).size, accounts.length)
  for (const { account_id } of opened) assert(accounts.includes(account_id))

  const { stdout } = await ask('list_actions', '--all', '--limit', '2', '--json')
  const actions = idsIn(stdout).map(BigInt)
  assert(actions.length >= 3)
  assert.deepEqual(
    actions,
    [...new Set(actions)].toSorted((a, b) => (a < b ? 1 : -1)),
  )
  const csv = (await ask('list_accounts', '--all', '--limit', '2', '--csv')).stdout
  assert.equal(csv.trim().split('\n').length, accounts.length + 1)
  const table = (await ask('list_actions', '--limit', '1')).stdout
  assert.match(table, /^operator name +action .*\nFLORIN_OPERATOR_TOKEN +operator_list_actions /)
})

test('a token with two-factor authentication works in commands after sign_in', async () => {
  const { output } = await command('create', 'Kay', '--role', 'viewer', '--totp')
  const token = tokenIn(output)
  const at = (bearer: string) => ({ FLORIN_URL: url, FLORIN_OPERATOR_TOKEN: bearer })
  const ask = (bearer: string, ...words: string[]) => florin(['operator', ...words], at(bearer))
  assert.equal((await ask(token, 'list_tickets')).code, 3)
  const secret = /secret=([A-Z2-7]+)/.exec(output)?.[1] ?? ''
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate()
  const wrong = await ask(token, 'sign_in', '--totp_code', code === '000000' ? '111111' : '000000')
  assert.deepEqual([wrong.code, /totp_invalid/.test(wrong.stderr)], [3, true])
  const signed_in = await florin(['operator', 'sign_in', '--totp_code', code, '--json'], at(token))
  const { bearer } = JSON.parse(signed_in.stdout) as { bearer: string }
  assert.equal((await ask(bearer, 'list_tickets')).code, 0)
})

test('--all waits at the rate limit and then goes on', async () => {
  const limited = await startTestService({ env: { FLORIN_RATE_PROFILE: 'default' } })
  await limited.home.db.run(
    `insert into operator_actions (operator_id, operator_name, role, action, input, request_id, ip,
            created_at)
     select 'op_1', 'Ada', 'admin', 'operator_list_tickets', '{}', 'req_1', 'local', now()
       from generate_series(1, 150)`,
  )
  const at = { FLORIN_URL: limited.url, FLORIN_OPERATOR_TOKEN: OPERATOR_TOKEN }
  const words = ['operator', 'list_actions', '--all', '--limit', '1', '--json']
  const { code, stdout, stderr } = await florin(words, at)
  assert.equal(code, 0, stderr)
  assert.equal(stdout.match(/"op_1"/g)?.length, 150)
})
