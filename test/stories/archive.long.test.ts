import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { proveBooks } from '#main/audit.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { loadKeys } from '#platform/storage/keys.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { florin, spawnFlorin, temporaryFolder } from '#test/support/florin_process.ts'
import { addMonths } from '#test/support/monthly_books.ts'
import { writeAccounts, writePurchases } from '#test/support/old_purchases.ts'

const TABLES = ['movements', 'transactions'] as const
const clone = await cloneDatabase()
const home = await temporaryFolder()
const db = openDatabase(clone.url)
after(async () => {
  await db.close()
  await clone.drop()
  await home.remove()
})

/** The service's clock is in June 2028. */
const NOW = new Date('2028-06-15T00:00:00Z')
const archives = join(home.path, 'archives')
const env = { FLORIN_DATABASE_URL: clone.url, FLORIN_DATA_DIR: home.path }
const CREATE = ['archive', 'create', archives, '--months', '13']

await loadKeys(join(home.path, 'keys.json'), systemRandom)
await addMonths(db, new Date('2027-07-01T00:00:00Z'))
await db.run('update clock set offset_ms = $1', [NOW.getTime() - Date.now()])
await writeAccounts(clone.url, 20, '2026-11-01')
await writePurchases(clone.url, {
  accounts: 20,
  from: '2026-11-02',
  count: 8_000,
  every: '40 minutes',
})

/** The IDs of both tables in the database, also of months that are leaving. */
async function idsInDatabase(): Promise<string[]> {
  const detached = await db.rows<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relname like '%leaving'`,
  )
  const names = [...TABLES, ...detached.map(({ name }) => name)]
  const parts = names.map((name) => `select id from ${name}`)
  const rows = await db.rows<{ id: string }>(parts.join(' union all '))
  return rows.map(({ id }) => id)
}

async function idsInFiles(): Promise<string[]> {
  const ids: string[] = []
  for (const name of await readdir(archives)) {
    for (const table of TABLES) {
      const text = gunzipSync(await readFile(join(archives, name, `${table}.jsonl.gz`))).toString()
      for (const [, id = ''] of text.matchAll(/^\{"account_id":"\w+","id":"(\w+)"/gm)) ids.push(id)
    }
  }
  return ids
}

test('kill -9 of an archive at any time loses no row, and the next run completes it', async (t) => {
  const all = (await idsInDatabase()).sort()
  assert.equal(all.length, 32_040)
  let kills = 0
  for (let delay_ms = 600; ; delay_ms += 300) {
    const command = spawnFlorin(CREATE, env)
    const first = await Promise.race([command.ended, wait(delay_ms)])
    command.kill('SIGKILL')
    const { code } = first ?? (await command.ended)
    if (code === 0) break
    kills += 1
    assert.equal((await proveBooks(db, NOW)).violations.length, 0, `after ${delay_ms} ms`)
  }
  t.diagnostic(`${kills} kills`)
  assert(kills > 1)
  const kept = await idsInDatabase()
  const archived = await idsInFiles()
  assert(kept.length > 0 && archived.length > 0)
  assert.deepEqual([...kept, ...archived].sort(), all)
  assert.equal((await proveBooks(db, NOW)).violations.length, 0)
})

test('the command proves its archive, finds a change, and restores it elsewhere', async () => {
  const sound = await florin(['archive', 'verify', archives], env)
  assert.equal(sound.code, 0, sound.output)
  assert.match(sound.output, /^Cell 0 until 2027-05-01: \d+ movements, \d+ transactions$/m)
  assert.match(sound.output, /The archive is sound\./)
  const other = await cloneDatabase('template1')
  const folder = join(archives, 'cell0_until_2027-05')
  const restored = await florin(['archive', 'restore', folder, '--to', '-'], env, other.url)
  assert.equal(restored.code, 0, restored.output)
  assert.match(restored.output, /Restored into the schema archive_cell0_2027_05\./)
  await other.drop()
  const none = await florin(CREATE, env)
  assert.match(none.output, /Cell 0 has no whole month that is older than 13 months/)
  const foreign = await temporaryFolder()
  const refused = await florin(['archive', 'verify', archives], {
    ...env,
    FLORIN_DATA_DIR: foreign.path,
  })
  assert.notEqual(refused.code, 0)
  assert.match(refused.output, /There is no key file/)
  await foreign.remove()
})
