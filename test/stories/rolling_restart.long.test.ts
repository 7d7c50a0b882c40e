import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import manifest from '#package.json' with { type: 'json' }
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { migrateFrom } from '#platform/postgres/migrate.ts'
import { startAcknowledgedLoad } from '#test/support/acknowledged_load.ts'
import { type ChildNode, makeVersion, startChildNode } from '#test/support/child_node.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { startTestService } from '#test/support/start.ts'

const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000)
const NEXT = '99.0.0'
const LAST = '99.1.0'
/**
 * Adds a column in place of another one, which nodes of this version go on reading and writing. The
 * first file takes the strongest lock on a table that every call and card message reads.
 */
const EXPAND = {
  '9000_note.sql': 'alter table cards add column next_version_note text;\n',
  '9001_request_hash.sql': `alter table stored_responses add column request_hash text;
update stored_responses set request_hash = fingerprint;
create function fill_request_hash() returns trigger language plpgsql as $$
begin
  new.fingerprint := coalesce(new.fingerprint, new.request_hash);
  new.request_hash := coalesce(new.request_hash, new.fingerprint);
  return new;
end
$$;
create trigger fill_request_hash before insert on stored_responses
  for each row execute function fill_request_hash();
`,
}
const CONTRACT = {
  '9002_drop_fingerprint.sql': `-- incompatible: older nodes write stored_responses.fingerprint
-- allows: >= ${NEXT}
drop trigger fill_request_hash on stored_responses;
drop function fill_request_hash();
alter table stored_responses drop column fingerprint;
`,
}
/** The next version reads and writes the new column only. */
const edits = {
  file: 'operations/perform/stored_responses.js',
  replaced: [
    ['select fingerprint, status', 'select request_hash as fingerprint, status'],
    ['(scope, key, fingerprint, status', '(scope, key, request_hash, status'],
  ],
} as const

const database = await cloneDatabase()
const data_dir = await mkdtemp(join(tmpdir(), 'florin_rolling_'))
const next_dir = await mkdtemp(join(tmpdir(), 'florin_next_'))
const last_dir = await mkdtemp(join(tmpdir(), 'florin_last_'))
await makeVersion(next_dir, { version: NEXT, migrations: EXPAND, edits })
await makeVersion(last_dir, { version: LAST, migrations: { ...EXPAND, ...CONTRACT }, edits })
// Opens the account and reads the books; the traffic goes to the two processes.
const observer = await startTestService({ database_url: database.url, data_dir })
await observer.tasks.stop()
after(async () => {
  await database.drop()
  for (const path of [data_dir, next_dir, last_dir]) {
    await rm(path, { recursive: true, force: true })
  }
})

const shared = { database_url: database.url, data_dir }
const startThis = () => startChildNode(shared)
const startNext = () => startChildNode({ ...shared, package_dir: next_dir })
const startLast = () => startChildNode({ ...shared, package_dir: last_dir })

/** Stops one of two nodes and starts another in its place while the other serves all traffic. */
async function replaceNode(nodes: ChildNode[], at: number, start: () => Promise<ChildNode>) {
  const [old] = nodes.splice(at, 1)
  assert.equal(await old?.stop(), 0)
  nodes.splice(at, 0, await start())
}

async function inDatabase(work: (db: Database) => Promise<void>): Promise<void> {
  const db = openDatabase(observer.database_url, { pool_size: 1 })
  await work(db).finally(() => db.close())
}

test(`two nodes are replaced by another version with a migration, and back, under load, seed ${seed}`, async (t) => {
  const nodes = [await startThis(), await startThis()]
  const load = await startAcknowledgedLoad(observer, seed, { targets: () => nodes })
  const versions: string[] = []
  for (const [at, start] of [
    [0, startNext],
    [1, startNext],
    [0, startThis],
    [1, startThis],
  ] as const) {
    await load.nextSuccess()
    await replaceNode(nodes, at, start)
    versions.push(nodes.map(({ version }) => version).join(' + '))
    await delay(500)
  }
  await load.nextSuccess()
  await load.stop()
  const { version } = manifest
  assert.deepEqual(versions, [
    `${NEXT} + ${version}`,
    `${NEXT} + ${NEXT}`,
    `${version} + ${NEXT}`,
    `${version} + ${version}`,
  ])
  await inDatabase(async (db) => {
    const [row] = await db.rows(`select 1 from migrations where name = '9001_request_hash.sql'`)
    assert(row !== undefined, 'the migration ran')
    t.diagnostic(`4 restarts, ${await load.assertKept(db)}`)
  })
  for (const node of nodes) await node.stop()
})

test(`a column is replaced under load by two versions, and dropped when no older node is left, seed ${seed}`, async (t) => {
  const nodes = [await startNext(), await startThis()]
  const load = await startAcknowledgedLoad(observer, seed + 1, { targets: () => nodes })
  // The observer and every connection of this process are of an older version too.
  await observer.stop()
  await inDatabase(async (db) => {
    const refusal = await migrateFrom(join(last_dir, 'migrations'), db).catch((cause) => cause)
    assert(refusal instanceof Error)
    assert.match(refusal.message, /9002_drop_fingerprint\.sql is incompatible with versions of/)
    const listed = new RegExp(`before ${NEXT}, and these .*: ${manifest.version} on \\S+ `)
    assert.match(refusal.message, listed)
    assert(!refusal.message.includes(`${NEXT} on`), 'the version that is allowed is not listed')
  })
  await replaceNode(nodes, 1, startNext)
  await load.nextSuccess()
  const columns = 'count(fingerprint) as before, count(request_hash) as now'
  await inDatabase(async (db) => {
    const [filled] = await db.rows<{ rows: bigint; before: bigint; now: bigint }>(
      `select count(*) as rows, ${columns} from stored_responses`,
    )
    assert.deepEqual([filled?.before, filled?.now], [filled?.rows, filled?.rows])
  })

  // The first of these nodes drops the column beside a node of the version before.
  for (const at of [0, 1]) {
    await replaceNode(nodes, at, startLast)
    await load.nextSuccess()
    await delay(500)
  }
  await load.stop()
  assert.deepEqual(
    nodes.map((node) => node.version),
    [LAST, LAST],
  )
  // The traffic is compared by calls to the observer.
  Object.assign(observer, { url: nodes[0]?.url })
  await inDatabase(async (db) => {
    const dropped = db.rows(`select ${columns} from stored_responses`)
    await assert.rejects(dropped, /"fingerprint" does not exist/)
    t.diagnostic(`3 restarts, ${await load.assertKept(db)}`)
  })
})
