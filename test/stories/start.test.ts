import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { openDatabase } from '#platform/postgres/db.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { eventually } from '#test/support/eventually.ts'
import {
  type FlorinProcess,
  florin,
  startFlorin,
  stopAllProcesses,
  temporaryFolder,
} from '#test/support/florin_process.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'
import { freePort } from '#test/support/port.ts'

const execute = promisify(execFile)
const folder = await temporaryFolder()
const env = { FLORIN_DATA_DIR: folder.path, FLORIN_RATE_PROFILE: 'off' }

after(async () => {
  await stopAllProcesses()
  await folder.remove()
})

/** The value next to a name on the first-run screen. */
function readScreen(service: FlorinProcess, name: string): string {
  const line = service
    .output()
    .split('\n')
    .find((each) => each.trimStart().startsWith(`${name}  `))
  assert.ok(line !== undefined, `the screen does not name ${name}:\n${service.output()}`)
  return line.trim().slice(name.length).trim()
}

async function stop(service: FlorinProcess, signal: NodeJS.Signals): Promise<void> {
  service.signal(signal)
  await service.ended
}

const me = (service: FlorinProcess, bearer: string) =>
  send(service.url, 'GET', '/v1/accounts/me', { bearer })

async function assertProven(): Promise<void> {
  const books = await florin(['audit', 'books'], env)
  assert.equal(books.code, 0, books.output)
  assert.match(books.output, /The books are sound\./)
  const chains = await florin(['audit', 'verify'], env)
  assert.equal(chains.code, 0, chains.output)
  assert.match(chains.output, /^\d+ accounts, \d+ entries: unbroken$/m)
}

let demo_key = ''
let operator_token = ''
let acknowledged = { bearer: '', email: '' }

test('the first-run screen shows URLs and credentials that all work', async () => {
  const service = await startFlorin(env)
  assert.equal(readScreen(service, 'Panel'), service.url)
  for (const name of ['Operator console', 'Docs']) {
    assert.equal((await fetch(readScreen(service, name))).status, 200, name)
  }
  assert.equal(readScreen(service, 'API'), `${service.url}/v1`)
  assert.equal(readScreen(service, 'MCP'), `${service.url}/mcp`)
  demo_key = readScreen(service, 'API key')
  operator_token = readScreen(service, 'Operator token')
  const credentials = {
    email: readScreen(service, 'Sign in with'),
    password: readScreen(service, 'Password'),
  }
  const signed_in = await send(service.url, 'POST', '/v1/sessions', { body: credentials })
  assert.equal(signed_in.status, 200, signed_in.text)
  const account = await me(service, demo_key)
  assert.equal(account.body['email'], credentials.email)
  const health = await send(service.url, 'GET', '/operator/v1/health', { bearer: operator_token })
  assert.equal(health.status, 200)
  assert.equal((await fetch(service.url)).status, 200)

  const [, shown = ''] = service.output().split(/Try it:.*\n/)
  const lines = shown.split('\n').filter((line) => line.startsWith('  '))
  const { stdout } = await execute('bash', ['-ec', lines.join('\n')])
  assert.equal(JSON.parse(stdout).email, credentials.email, 'the commands on the screen work')

  const ada = await openAccount(service.url)
  acknowledged = { bearer: ada.bearer, email: ada.email }
  await stop(service, 'SIGKILL')
})

test('after SIGKILL and a restart, the demo and every acknowledged write are still there', async () => {
  const service = await startFlorin(env)
  assert.equal(readScreen(service, 'API key'), demo_key)
  assert.equal(readScreen(service, 'Operator token'), operator_token)
  assert.equal((await me(service, demo_key)).status, 200)
  const account = await me(service, acknowledged.bearer)
  assert.equal(account.status, 200, account.text)
  assert.equal(account.body['email'], acknowledged.email)
  await stop(service, 'SIGTERM')
  assert.deepEqual(await service.ended, { code: 0, signal: null })
})

test('files with secrets are readable by their owner only', async () => {
  for (const name of ['keys.json', 'demo.json', 'operator_token']) {
    const { mode } = await stat(join(folder.path, name))
    assert.equal(mode & 0o777, 0o600, name)
  }
})

test('audit books and audit verify pass while the service is stopped', assertProven)

test('a data directory in use refuses a second start, and can still be audited', async () => {
  const service = await startFlorin(env)
  const ports = { FLORIN_PORT: String(await freePort()), FLORIN_ISO_PORT: '0' }
  const second = await florin(['start'], { ...env, ...ports })
  assert.equal(second.code, 78, second.output)
  assert.match(second.output, /^The database in .* is in use by another process \(pid \d+\)\..*\n$/)
  await assertProven()
  assert.equal((await me(service, demo_key)).status, 200)
  await stop(service, 'SIGTERM')
})

test('with an external database: migrate, start, verify, and detect a tampered chain', async () => {
  const clone = await cloneDatabase()
  const other = await temporaryFolder()
  const own = { ...env, FLORIN_DATABASE_URL: clone.url, FLORIN_DATA_DIR: other.path }
  const db = openDatabase(clone.url, { pool_size: 2 })
  try {
    const up_to_date = await florin(['migrate'], own)
    assert.equal(up_to_date.code, 0, up_to_date.output)
    assert.match(up_to_date.output, /up to date/)
    const service = await startFlorin(own)
    await openAccount(service.url)
    await stop(service, 'SIGTERM')
    assert.equal((await florin(['audit', 'verify'], own)).code, 0)

    await db.transaction(async (tx) => {
      await tx.run('alter table audit_entries disable trigger all')
      await tx.run(`update audit_entries set ip = '203.0.113.9' where position = 1`)
      await tx.run('alter table audit_entries enable trigger all')
    })
    const text = await florin(['audit', 'verify'], own)
    assert.equal(text.code, 1)
    assert.match(text.output, /acct_\w+ at entry 1: its content was changed/)
    const json = await florin(['audit', 'verify', '--json'], own)
    assert.equal(json.code, 1)
    assert.ok(JSON.parse(json.output.trim().split('\n').at(-1) ?? '').faults.length > 0)
  } finally {
    await db.close()
    await clone.drop()
    await other.remove()
  }
})

test('an invalid setting stops every command with one sentence and exit code 78', async () => {
  for (const words of [['start'], ['migrate'], ['audit', 'verify']]) {
    const { code, output } = await florin(words, { ...env, FLORIN_PORT: 'nonsense' })
    assert.equal(code, 78)
    assert.match(output, /^FLORIN_PORT is "nonsense"; it must be a port number from 0 to 65535\.$/m)
    assert.ok(!output.includes('    at '), 'no stack is shown')
  }
})

test('a port in use ends the start with a message and leaves no database running', async () => {
  const service = await startFlorin(env)
  const other = await temporaryFolder()
  const { port } = new URL(service.url)
  const { code, output } = await florin(['start'], {
    FLORIN_DATA_DIR: other.path,
    FLORIN_PORT: port,
    FLORIN_ISO_PORT: '0',
  })
  assert.equal(code, 78, output)
  const sentence = `Port ${port} is already in use. Set FLORIN_PORT to a free port.`
  assert.ok(output.endsWith(`\n${sentence}\n`), output)
  const isFree = async () =>
    !(await stat(join(other.path, 'postgres/postmaster.pid')).catch(() => null))
  assert.ok(await eventually(isFree, { within_ms: 20_000 }))
  await stop(service, 'SIGTERM')
  await other.remove()
})
