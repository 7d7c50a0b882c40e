// Runs only with FLORIN_TEST_CITUS_URL, the address of a coordinator with at least two workers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '#platform/postgres/db.ts'
import { migrate } from '#platform/postgres/migrate.ts'
import { channelIn } from '#platform/postgres/notify.ts'
import { withSchema } from '#platform/postgres/schema.ts'
import { startAcknowledgedLoad } from '#test/support/acknowledged_load.ts'
import { eventually } from '#test/support/eventually.ts'
import { queryOn } from '#test/support/logical_postgres.ts'
import { startTestService } from '#test/support/start.ts'

const SCHEMA = 'florin_moving'
const WITHIN = { within_ms: 15_000 }
/** After Citus has moved the schema, until the first load and the first approval. */
const GAP_MS_MAX = 3_000

const coordinator = process.env['FLORIN_TEST_CITUS_URL'] ?? ''
assert.notEqual(coordinator, '', 'FLORIN_TEST_CITUS_URL is set')

type Worker = { host: string; port: number }
const workers = (await queryOn(
  coordinator,
  `select node_name as host, node_port::integer as port
     from citus_get_active_worker_nodes() order by 2`,
)) as Worker[]
assert.ok(workers.length >= 2, 'the coordinator has two workers')

await queryOn(coordinator, `drop schema if exists ${SCHEMA} cascade`)
await queryOn(coordinator, `set citus.enable_schema_based_sharding = on; create schema ${SCHEMA}`)
const owner = openDatabase(withSchema(coordinator, SCHEMA), { pool_size: 1 })
await migrate(owner)
await owner.close()

const withHosts = (hosts: string) =>
  coordinator.replace(/^(\w+:\/\/(?:[^@/]*@)?)[^/?]+/, `$1${hosts}`)
const addressOf = ({ host, port }: Worker) => withHosts(`${host}:${port}`)

/** Nodes list all workers, as the documentation tells operators to. */
const hosts = workers.map(({ host, port }) => `${host}:${port}`)
const address = withSchema(withHosts(hosts.join(',')), SCHEMA)

async function homeOf(): Promise<Worker> {
  const [home] = (await queryOn(
    coordinator,
    `select nodename as host, nodeport as port from citus_shards
      where table_name = '${SCHEMA}.accounts'::regclass`,
  )) as Worker[]
  assert.ok(home !== undefined)
  return home
}

const service = await startTestService({ database_url: address, env: { FLORIN_CELLS: '[]' } })
const load = await startAcknowledgedLoad(service, Date.now() % 1_000_000)
const portInUse = async () => {
  const [row] = await service.runtime.db.rows<{ port: number }>(
    `select current_setting('port')::integer as port`,
  )
  return row?.port
}

for (const round of [1, 2]) {
  test(`a node follows its schema to another worker under load, round ${round}`, async (t) => {
    const from = await homeOf()
    const to = workers.find(({ port }) => port !== from.port)
    assert.ok(to !== undefined)
    assert.equal(await portInUse(), from.port)
    await load.nextSuccess()
    const before = { unavailable: load.unavailable(), refused: load.refusedMessages() }
    await queryOn(coordinator, `select citus_schema_move('${SCHEMA}', $1::text, $2::integer)`, [
      to.host,
      to.port,
    ])
    const gap_ms = await load.nextSuccess()
    t.diagnostic(
      `first load and approval ${gap_ms} ms after the move; ` +
        `${load.unavailable() - before.unavailable} refusals, of which ` +
        `${load.refusedMessages() - before.refused} card messages; slowest ${load.slowestMs()} ms`,
    )
    assert.ok(gap_ms <= GAP_MS_MAX, `${gap_ms} ms`)
    assert.equal((await homeOf()).port, to.port)
    assert.equal(await portInUse(), to.port)
    const listening = `select from pg_stat_activity
      where query like '%listen ${channelIn(SCHEMA, 'cell_move')}%'
        and pid <> pg_backend_pid()`
    const isListening = async () =>
      (await queryOn(addressOf(to), listening)).length > 0 &&
      (await queryOn(addressOf(from), listening)).length === 0
    assert.ok(await eventually(isListening, WITHIN), 'the node listens on the new worker only')
  })
}

test('nothing acknowledged was lost or doubled, and the books are sound', async (t) => {
  await load.stop()
  t.diagnostic(await load.assertKept(service.runtime.db))
})
