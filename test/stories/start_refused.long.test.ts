import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openDatabase } from '#platform/postgres/db.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { eventually } from '#test/support/eventually.ts'
import {
  assertProven,
  type FlorinProcess,
  florin,
  startFlorin,
  stopAllProcesses,
  temporaryFolder,
} from '#test/support/florin_process.ts'
import { openAccount } from '#test/support/people.ts'
import { freePort } from '#test/support/port.ts'

const folder = await temporaryFolder()
const env = { FLORIN_DATA_DIR: folder.path, FLORIN_RATE_PROFILE: 'off' }

after(async () => {
  await stopAllProcesses()
  await folder.remove()
})

async function stop(service: FlorinProcess, signal: NodeJS.Signals): Promise<void> {
  service.signal(signal)
  await service.ended
}

test('a data directory in use refuses a second start, and can still be audited', async () => {
  const service = await startFlorin(env)
  const ports = { FLORIN_PORT: String(await freePort()), FLORIN_ISO_PORT: '0' }
  const second = await florin(['start'], { ...env, ...ports })
  assert.equal(second.code, 78, second.output)
  assert.match(second.output, /^The database in .* is in use by another process \(pid \d+\)\..*\n$/)
  await assertProven(env)
  assert.equal((await fetch(`${service.url}/healthz`)).status, 200)
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
