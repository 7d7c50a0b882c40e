// Runs alone, because a server that recovers beside a busy machine takes longer than a minute.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startEmbeddedPostgres } from '#platform/embedded_postgres/embedded_postgres.ts'
import { startAcknowledgedLoad } from '#test/support/acknowledged_load.ts'
import { fileDispute, getDispute, openBuyer } from '#test/support/disputes.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { recordingLog } from '#test/support/leaks.ts'
import { mountSmallDisk } from '#test/support/small_disk.ts'
import { startTestService } from '#test/support/start.ts'
import { skipWithout } from '#test/support/tools.ts'

const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000)
const skip = skipWithout('tmpfs')
const LINES_SHOWN = 30

/** A service whose database has one small disk for its tables and one for its log. */
async function startOnSmallDisks() {
  const [data, wal] = [await mountSmallDisk(256), await mountSmallDisk(96)]
  const first = await startEmbeddedPostgres({ data_dir: data.path })
  await first.stop()
  const [old, log] = [join(data.path, 'postgres/pg_wal'), join(wal.path, 'pg_wal')]
  // Keeps the owner, who is another user than root.
  execFileSync('mv', [old, log])
  await symlink(log, old)
  const restarts: string[] = []
  const database = await startEmbeddedPostgres({
    data_dir: data.path,
    log: (line) => restarts.push(line),
  })
  after(() => database.stop())
  const data_dir = await mkdtemp(join(tmpdir(), 'florin_full_'))
  await mkdir(join(data_dir, 'evidence'))
  const evidence = await mountSmallDisk(8, join(data_dir, 'evidence'))
  const recorded = recordingLog()
  const node = await startTestService({
    ...{ database_url: database.url, data_dir },
    dependencies: { log: recorded.log },
  })
  const recentLog = () =>
    [...restarts, ...recorded.text().split('\n').slice(-LINES_SHOWN)].join('\n')
  return { data, wal, evidence, node, recentLog }
}

type SmallDisks = Awaited<ReturnType<typeof startOnSmallDisks>>
const { data, wal, evidence, node, recentLog } =
  skip === false ? await startOnSmallDisks() : ({} as SmallDisks)

const healthOf = async (bearer: string): Promise<string> =>
  (await send(node.url, 'GET', '/v1/system/health', { bearer })).body['status']

/** The log's next segments may exist already; each switch uses one up. */
const useUpSegment = () => node.owner_db.rows('select pg_switch_wal()').catch(() => undefined)

for (const [name, disk, use] of [
  ['tables', () => data, async () => undefined],
  ['log', () => wal, useUpSegment],
] as const) {
  test(`a full disk for the database's ${name} costs 503s and nothing acknowledged, seed ${seed}`, {
    skip,
  }, async (t) => {
    const load = await startAcknowledgedLoad(node, seed)
    await load.nextSuccess()
    await delay(1_000)
    await disk().fill()
    const isFull = async () => {
      await use()
      return load.unavailable() > 20
    }
    assert(await eventually(isFull, { within_ms: 60_000 }), 'the full disk is noticed')
    await disk().free()
    const gap_ms = await load.nextSuccess().catch((cause: unknown) => {
      throw new Error(recentLog(), { cause })
    })
    await load.stop()
    t.diagnostic(`${await load.assertKept(node.owner_db)}; healed after ${gap_ms} ms`)
  })
}

const PDF = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(3 * 1_048_576, 'x')])

const storedFiles = async () =>
  (await readdir(evidence.path, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name !== 'ballast')
    .map(({ name }) => name)

test('a full disk for evidence is a 503 that leaves no partial file', { skip }, async () => {
  const buyer = await openBuyer(node)
  const { id } = await fileDispute(node.url, buyer)
  const headers = { 'content-type': 'application/pdf' }
  const path = `/v1/disputes/${id}/evidence?kind=other`
  const add = () => send(node.url, 'POST', path, { bearer: buyer.key, raw: PDF, headers })
  await evidence.fill()
  const refused = await add()
  assert.equal(refused.status, 503, refused.text)
  assert.equal(refused.body['error'], 'service_unavailable')
  assert.notEqual(refused.headers.get('retry-after'), null)
  assert.deepEqual(await storedFiles(), [])
  await evidence.free()
  const added = await add()
  assert.equal(added.status, 200, added.text)
  assert.equal((await getDispute(node.url, buyer.key, id)).evidence.length, 1)
  assert.equal((await storedFiles()).length, 1)
  assert.equal(await healthOf(buyer.key), 'operational')
})
