// Runs alone, because it needs response codes of a machine that is not overloaded.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type HostConnection, openConnection } from '#sandbox/card_network.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { assertEventsAreWhole } from '#test/support/event_proofs.ts'
import { eventually } from '#test/support/eventually.ts'
import { startFlorin, stopAllProcesses, temporaryFolder } from '#test/support/florin_process.ts'
import { purchaseMessage } from '#test/support/issuer.ts'
import { openOwner } from '#test/support/mixed_storm.ts'
import { pick, runTogether } from '#test/support/mixed_storm_actors.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { freePort } from '#test/support/port.ts'
import { startTestService } from '#test/support/start.ts'
import { seeded } from '#test/support/storm.ts'
import { byWorker, haveEnded, workerPids } from '#test/support/worker_processes.ts'

const WORKERS = 3
const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000)

const clone = await cloneDatabase()
const folder = await temporaryFolder()
const observed = await temporaryFolder()
const card_host_port = await freePort()
const service = await startFlorin({
  FLORIN_WORKERS: String(WORKERS),
  FLORIN_DATA_DIR: folder.path,
  FLORIN_DATABASE_URL: clone.url,
  FLORIN_ISO_PORT: String(card_host_port),
  FLORIN_PASSWORD_HASH_MIB: '1',
  FLORIN_RATE_PROFILE: 'off',
})
// Opens accounts with money and reads the books; the traffic goes to the workers.
const observer = await startTestService({
  database_url: clone.url,
  data_dir: observed.path,
  env: { FLORIN_KEY_FILE: join(folder.path, 'keys.json') },
})
await observer.tasks.stop()
after(async () => {
  await stopAllProcesses()
  await clone.drop()
  await folder.remove()
  await observed.remove()
})

const messagesByWorker = async () => {
  const metrics = await (await fetch(`${service.url}/metrics`)).text()
  return byWorker(metrics, 'florin_card_messages_total')
}

test(`one busy account gets no wrong response from several workers, seed ${seed}`, async (t) => {
  const MESSAGES = 1_500
  const owner = await openOwner(observer, 6)
  const codes = new Map<string, number>()
  let sent = 0
  const shop = (at: number) => async (isStopped: () => boolean) => {
    const random = seeded(seed * 100 + at)
    const line = await openConnection(card_host_port)
    try {
      while (!isStopped() && sent < MESSAGES) {
        sent += 1
        const { fields } = await line.send(purchaseMessage(pick(owner.cards, random), 1))
        const code = fields[39] ?? 'none'
        codes.set(code, (codes.get(code) ?? 0) + 1)
      }
    } finally {
      line.end()
    }
  }
  const began = performance.now()
  await runTogether(Array.from({ length: 16 * WORKERS }, (_, at) => shop(at)))
  const per_second = Math.round(sent / ((performance.now() - began) / 1_000))
  // The account can pay all of it, so everything but an approval is wrong.
  assert.deepEqual(Object.fromEntries(codes), { '00': sent })
  const shares = await messagesByWorker()
  assert.equal(shares.size, WORKERS, 'every worker decided some of them')
  await assertBooksSound(observer.owner_db)
  await assertEventsAreWhole(observer.owner_db)
  t.diagnostic(`${sent} approvals, ${per_second} a second`)
})

test(`a worker killed with SIGKILL costs its own connections only, seed ${seed}`, async (t) => {
  const LINES = 4 * WORKERS
  const owner = await openOwner(observer, 6)
  const lines = await Promise.all(
    Array.from({ length: LINES }, () => openConnection(card_host_port)),
  )
  const approvals = lines.map(() => 0)
  let isOver = false
  const useLine = async (line: HostConnection, at: number) => {
    const random = seeded(seed * 100 + at)
    while (!isOver) {
      const response = await line
        .send(purchaseMessage(pick(owner.cards, random), 1))
        .catch(() => null)
      if (response === null && line.isDown()) return
      assert.equal(response?.fields[39], '00', 'a connection that stays open gets every approval')
      approvals[at] = (approvals[at] ?? 0) + 1
    }
  }
  const traffic = Promise.all(lines.map(useLine))
  // Awaited below; until then a failure must not count as unhandled.
  traffic.catch(() => undefined)
  const waitForAll = async (open: readonly HostConnection[]) => {
    const before = [...approvals]
    const isAhead = (at: number) => (approvals[at] ?? 0) >= (before[at] ?? 0) + 5
    const areAhead = async () => open.every((line) => isAhead(lines.indexOf(line)))
    assert(await eventually(areAhead, { within_ms: 30_000 }), 'every open connection is served')
  }
  await waitForAll(lines)
  const [killed = 0] = workerPids(service.pid)
  process.kill(killed, 'SIGKILL')
  assert(await haveEnded([killed], 5_000), 'the worker ended')
  // The system closes the connections of a process that ended, one after another.
  await wait(500)
  const survivors = lines.filter((line) => !line.isDown())
  await waitForAll(survivors)
  isOver = true
  await traffic
  const lost = LINES - survivors.length
  assert.equal(lines.filter((line) => line.isDown()).length, lost, 'none was lost later')
  assert(lost >= 1 && lost <= LINES / 2, `${lost} of ${LINES} connections were lost`)
  for (const line of survivors) line.end()
  await assertBooksSound(observer.owner_db)
  t.diagnostic(
    `${lost} of ${LINES} connections lost, ${approvals.reduce((a, b) => a + b)} approvals`,
  )
})

test('the first start with several workers shows the same screen as with one process', async () => {
  const screenWith = async (workers: number) => {
    const data = await temporaryFolder()
    after(data.remove)
    const env = { FLORIN_WORKERS: String(workers), FLORIN_DATA_DIR: data.path }
    const started = await startFlorin({ ...env, FLORIN_PASSWORD_HASH_MIB: '1' })
    started.signal('SIGTERM')
    assert.deepEqual(await started.ended, { code: 0, signal: null })
    const lines = started.output().split('\n')
    // Ports, folders and credentials differ; they begin at the 20th column.
    return lines.filter((line) => !line.startsWith('{')).map((line) => line.slice(0, 20))
  }
  const screen = await screenWith(WORKERS)
  assert(screen.some((line) => line.includes('Operator console')))
  assert.deepEqual(screen, await screenWith(1))
})
