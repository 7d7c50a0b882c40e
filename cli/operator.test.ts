import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operator_roles } from '#domain/access/operator.ts'
import { assertRefused } from '#test/support/calls.ts'
import { florin } from '#test/support/florin_process.ts'
import { operate } from '#test/support/operator.ts'
import { startTestService } from '#test/support/start.ts'

const { url, database_url, data_dir } = await startTestService()
const env = { FLORIN_DATABASE_URL: database_url, FLORIN_DATA_DIR: data_dir }

const command = (...words: string[]) => florin(['operator', ...words], env)
const tokenIn = (output: string) => /^flo_test_\S+$/m.exec(output)?.[0] ?? ''

async function created(name: string, role: string): Promise<string> {
  const { code, output } = await command('create', name, '--role', role)
  assert.equal(code, 0, output)
  return tokenIn(output)
}

test('a token of each role is made, works at once beside the running service, and is listed', async () => {
  for (const role of operator_roles) {
    const bearer = await created(`Ada the ${role}`, role)
    assert.equal((await operate(url, 'GET', '/tickets', { bearer })).status, 200)
    const acts = await operate(url, 'GET', '/acts', { bearer })
    assert.equal(acts.status, role === 'admin' ? 200 : 403, `${role}: ${acts.text}`)
    const { output } = await command('list')
    assert.match(output, new RegExp(`active  ${role} +Ada the ${role}  used`))
    assert(!output.includes(bearer), 'a token is shown once')
  }
  const { output } = await command('list', '--json')
  const rows = JSON.parse(output) as { role: string; revoked_at: string | null }[]
  assert.deepEqual(rows.map(({ role }) => role).toSorted(), [...operator_roles].toSorted())
})

test('a revoked token is out at once, by its name or its id, and cannot be revoked twice', async () => {
  const bearer = await created('Grace', 'support')
  assert.equal((await operate(url, 'GET', '/tickets', { bearer })).status, 200)
  assert.equal((await command('revoke', 'Grace')).code, 0)
  assertRefused(await operate(url, 'GET', '/tickets', { bearer }), 401, 'token_revoked')
  const again = await command('revoke', 'Grace')
  assert.deepEqual([again.code, /no operator token Grace/.test(again.output)], [1, true])

  const next = await created('Grace', 'viewer')
  const { output } = await command('list', '--json')
  const rows = JSON.parse(output) as { id: string; name: string; revoked_at: string | null }[]
  const live = rows.find(({ name, revoked_at }) => name === 'Grace' && revoked_at === null)
  assert.equal((await command('revoke', live?.id ?? '')).code, 0)
  assertRefused(await operate(url, 'GET', '/tickets', { bearer: next }), 401, 'token_revoked')
})

test('a role that there is none of and a name that is taken are refused with a sentence', async () => {
  const role = await command('create', 'Eve', '--role', 'owner')
  assert.deepEqual([role.code, /A role is one of viewer/.test(role.output)], [78, true])
  assert.notEqual((await command('create', 'Eve')).code, 0)
  await created('Eve', 'viewer')
  const taken = await command('create', 'Eve', '--role', 'viewer')
  assert.deepEqual([taken.code, tokenIn(taken.output)], [78, ''])
})
