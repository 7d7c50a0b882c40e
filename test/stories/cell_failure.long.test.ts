// Runs alone, because it measures how long calls wait, on several database servers.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { cellOfId } from '#kernel/id.ts'
import { runtimeOfId } from '#operations/cells.ts'
import { startEmbeddedPostgres } from '#platform/embedded_postgres/embedded_postgres.ts'
import { type AcknowledgedLoad, startAcknowledgedLoad } from '#test/support/acknowledged_load.ts'
import { eventually } from '#test/support/eventually.ts'
import { assertOnTime } from '#test/support/on_time.ts'
import { startTestService } from '#test/support/start.ts'

const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000)
const SILENT_MS = 6_000
/** Longer than the server's restart takes, shorter than a network waits for its response. */
const HEALTHY_MS_MAX = 1_500

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.trim().split(' ').filter(Boolean).map(Number)
}

async function accepts(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** A process of the server may end at any time. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** A database server of its own; if it is killed, its keeper starts it again on the same port. */
async function startServer() {
  const data_dir = await mkdtemp(join(tmpdir(), 'florin_cell_'))
  const { url, stop } = await startEmbeddedPostgres({ data_dir })
  after(async () => {
    await stop()
    await rm(data_dir, { recursive: true, force: true, maxRetries: 5 })
  })
  const postmaster = async () =>
    Number.parseInt(
      await readFile(join(data_dir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => ''),
      10,
    )
  return {
    url,
    /**
     * Waits for the restart. The old server's processes still respond for a moment, and a first
     * attempt fails while they run, but only a new server accepts a connection.
     */
    kill: async () => {
      process.kill(await postmaster(), 'SIGKILL')
      const isRestarted = () => accepts(url)
      assert.ok(await eventually(isRestarted, { within_ms: 30_000 }), 'the server was restarted')
    },
    /** No packet, no reset: every process of the server is stopped. */
    silence: async (ms: number) => {
      const pid = await postmaster()
      signal(pid, 'SIGSTOP')
      const children = await childrenOf(pid)
      for (const child of children) signal(child, 'SIGSTOP')
      await delay(ms)
      for (const each of [pid, ...children]) signal(each, 'SIGCONT')
    },
  }
}

const servers = [await startServer(), await startServer()] as const
const service = await startTestService({
  database_url: servers[0].url,
  env: { FLORIN_CELLS: JSON.stringify([{ number: 1, url: servers[1].url }]) },
})

const failing = 'database' as const
const opened = [
  await startAcknowledgedLoad(service, seed, { failing }),
  await startAcknowledgedLoad(service, seed + 1, { failing }),
]
const loadOf = (cell: number): AcknowledgedLoad => {
  const found = opened.find(({ account_id }) => cellOfId(account_id) === cell)
  assert.ok(found !== undefined, `cell ${cell} has an account`)
  return found
}

for (const [lost, server] of servers.entries()) {
  const healthy = lost === 0 ? 1 : 0

  test(`cell ${healthy} refuses nothing while the server of cell ${lost} is killed and silent`, async (t) => {
    const [there, here] = [loadOf(lost), loadOf(healthy)]
    await there.nextSuccess()
    const before = { there: there.unavailable(), here: here.unavailable() }
    let slowest_ms = 0
    let isOver = false
    const watched = (async () => {
      while (!isOver) slowest_ms = Math.max(slowest_ms, await here.nextSuccess())
    })()
    const began = performance.now()
    await server.kill()
    await there.nextSuccess()
    const restarted_ms = Math.round(performance.now() - began)
    await server.silence(SILENT_MS)
    const back_ms = await there.nextSuccess()
    isOver = true
    await watched
    t.diagnostic(
      `cell ${lost} was back after ${restarted_ms} and ${back_ms} ms, with ` +
        `${there.unavailable() - before.there} refusals; slowest success of cell ${healthy}: ` +
        `${slowest_ms} ms`,
    )
    assert.ok(there.unavailable() > before.there, 'the outage was noticed')
    assert.equal(here.unavailable(), before.here)
    assertOnTime(slowest_ms < HEALTHY_MS_MAX, `${slowest_ms} ms`)
  })
}

test('both cells kept what they acknowledged, and their books are sound', async (t) => {
  for (const load of opened) await load.stop()
  for (const load of opened) {
    t.diagnostic(await load.assertKept(runtimeOfId(service.runtime, load.account_id).db))
  }
})
