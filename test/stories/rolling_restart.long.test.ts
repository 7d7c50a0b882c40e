import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import manifest from '#package.json' with { type: 'json' }
import { startAcknowledgedLoad } from '#test/support/acknowledged_load.ts'
import { type ChildNode, makeNextVersion, startChildNode } from '#test/support/child_node.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { startTestService } from '#test/support/start.ts'

const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000)
const NEXT = '99.0.0'
/** Takes the strongest lock on a table that every call and card message reads. */
const MIGRATION = 'alter table cards add column next_version_note text;\n'

const database = await cloneDatabase()
const data_dir = await mkdtemp(join(tmpdir(), 'florin_rolling_'))
const next_dir = await mkdtemp(join(tmpdir(), 'florin_next_'))
await makeNextVersion(next_dir, NEXT, MIGRATION)
// Opens the account and reads the books; the traffic goes to the two processes.
const observer = await startTestService({ database_url: database.url, data_dir })
await observer.tasks.stop()
after(async () => {
  await database.drop()
  for (const path of [data_dir, next_dir]) await rm(path, { recursive: true, force: true })
})

const shared = { database_url: database.url, data_dir }
const startThis = () => startChildNode(shared)
const startNext = () => startChildNode({ ...shared, package_dir: next_dir })

/** Stops one of two nodes and starts another in its place while the other serves all traffic. */
async function replaceNode(nodes: ChildNode[], at: number, start: () => Promise<ChildNode>) {
  const [old] = nodes.splice(at, 1)
  assert.equal(await old?.stop(), 0)
  nodes.splice(at, 0, await start())
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
  const [row] = await observer.owner_db.rows(
    `select 1 from migrations where name = '9001_next_version.sql'`,
  )
  assert(row !== undefined, 'the migration ran')
  t.diagnostic(`4 restarts, ${await load.assertKept(observer.owner_db)}`)
})
