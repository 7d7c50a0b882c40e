import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openDatabase } from '#platform/postgres/db.ts'
import { openConnection } from '#sandbox/card_network.ts'
import { SMTPServer } from '#test/packages/smtp_server.ts'
import { startAcknowledgedLoad } from '#test/support/acknowledged_load.ts'
import { advance } from '#test/support/calls.ts'
import { managementMessage } from '#test/support/card_peer.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { eventually } from '#test/support/eventually.ts'
import {
  type FlorinProcess,
  florin,
  startFlorin,
  stopAllProcesses,
  temporaryFolder,
} from '#test/support/florin_process.ts'
import { holdRows } from '#test/support/held_rows.ts'
import { type Reply, send } from '#test/support/http.ts'
import { createKey, openAccount } from '#test/support/people.ts'
import { freePort } from '#test/support/port.ts'
import { startReceiver } from '#test/support/receiver.ts'
import { startTestService } from '#test/support/start.ts'
import { type ActivityStream, followActivity } from '#test/support/stream.ts'
import { makeEvent, subscribe } from '#test/support/webhooks.ts'
import { byWorker, haveEnded, sumOf, workerPids } from '#test/support/worker_processes.ts'

const WORKERS = 3
const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000)

const mail_ids: string[] = []
const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData: (stream, _session, done) => {
    let text = ''
    stream.on('data', (chunk) => {
      text += String(chunk)
    })
    stream.on('end', () => {
      mail_ids.push(/^Message-ID: (.*)$/im.exec(text)?.[1] ?? '')
      done()
    })
  },
})
smtp.listen(0, '127.0.0.1')
await once(smtp.server, 'listening')

const clone = await cloneDatabase()
const folder = await temporaryFolder()
const observed = await temporaryFolder()
const card_host_port = await freePort()
const env = {
  FLORIN_WORKERS: String(WORKERS),
  FLORIN_DATA_DIR: folder.path,
  FLORIN_DATABASE_URL: clone.url,
  FLORIN_ISO_PORT: String(card_host_port),
  FLORIN_PASSWORD_HASH_MIB: '1',
  FLORIN_SMTP_URL: `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`,
}
const unlimited = { ...env, FLORIN_RATE_PROFILE: 'off' }
let service = await startFlorin(unlimited)
// Opens accounts with money and reads the books; the traffic goes to the workers.
const observer = await startTestService({
  database_url: clone.url,
  data_dir: observed.path,
  env: { FLORIN_KEY_FILE: join(folder.path, 'keys.json') },
})
await observer.tasks.stop()
const db = openDatabase(clone.url, { pool_size: 4 })
after(async () => {
  await stopAllProcesses()
  smtp.close(() => undefined)
  await db.close()
  await clone.drop()
  await folder.remove()
  await observed.remove()
})

const metricsOf = async ({ url }: FlorinProcess) => (await send(url, 'GET', '/metrics')).text

/** All workers serve, and none of them is the killed one. */
async function waitForReplacement({ pid }: FlorinProcess, killed: number): Promise<number> {
  const began = performance.now()
  const isWhole = async () => {
    const pids = workerPids(pid)
    if (pids.length !== WORKERS || pids.includes(killed)) return false
    return byWorker(await metricsOf(service), 'florin_process_start_time_seconds').size > WORKERS
  }
  assert(await eventually(isWhole, { within_ms: 30_000 }), 'the worker is replaced')
  return Math.round(performance.now() - began)
}

test(`calls and card messages keep their results while workers are killed, seed ${seed}`, async (t) => {
  const load = await startAcknowledgedLoad(observer, seed, {
    targets: () => [{ url: service.url, card_host_port }],
    failing: 'nodes',
  })
  for (let at = 0; at < 4; at += 1) {
    await load.nextSuccess()
    const pids = workerPids(service.pid)
    const killed = pids[(seed + at) % WORKERS] as number
    process.kill(killed, 'SIGKILL')
    const gap_ms = await load.nextSuccess()
    const replaced_ms = await waitForReplacement(service, killed)
    t.diagnostic(`first success after ${gap_ms} ms, replaced after ${replaced_ms} ms`)
    const survivors = pids.filter((pid) => pid !== killed)
    assert.deepEqual(
      workerPids(service.pid).filter((pid) => pids.includes(pid)),
      survivors,
    )
  }
  await load.stop()
  t.diagnostic(await load.assertKept(observer.owner_db))
  assert.match(service.output(), /"worker":0,.*a worker ended; another one takes its place/)
})

test('workers share the calls and card messages, and the metrics add up to all of them', async () => {
  const { bearer } = await openAccount(service.url)
  const before = await metricsOf(service)
  const get = () => send(service.url, 'GET', '/v1/balance', { bearer })
  const replies = await Promise.all(Array.from({ length: 30 }, get))
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
  const lines = await Promise.all(
    Array.from({ length: 2 * WORKERS }, () => openConnection(card_host_port)),
  )
  for (const line of lines) {
    assert.equal((await line.send(managementMessage('001'))).fields[39], '00')
    line.end()
  }
  const after_calls = await metricsOf(service)
  const calls = byWorker(after_calls, 'florin_request_seconds_count', 'operation="get_balance"')
  const earlier = byWorker(before, 'florin_request_seconds_count', 'operation="get_balance"')
  assert.equal(sumOf(calls) - sumOf(earlier), 30)
  assert(calls.size > 1, 'more than one worker served them')
  const names = [...byWorker(after_calls, 'florin_process_resident_memory_bytes').keys()]
  assert.deepEqual(names.sort(), ['0', '1', '2', '3'])
  const headings = after_calls.split('\n').filter((line) => line.startsWith('# TYPE'))
  assert.equal(new Set(headings).size, headings.length)
})

test('an advance of the clock is seen by every worker when it returns', async () => {
  const { bearer } = await openAccount(service.url)
  await advance(service.url, bearer, 3_600)
  const offsets = byWorker(await metricsOf(service), 'florin_clock_offset_seconds')
  assert.deepEqual([...offsets.values()], [3_600, 3_600, 3_600, 3_600])
})

test('tasks run once: one delivery per event and one email per notice', async () => {
  const receiver = await startReceiver()
  const ada = await openAccount(service.url)
  await subscribe(service.url, ada, { url: receiver.url })
  const keys = Array.from({ length: 12 }, () => createKey(service.url, ada.bearer))
  // One after another: sign-ins that are being checked count as attempts.
  for (let made = 0; made < 24; made += 1) await makeEvent(service.url, ada)
  await Promise.all(keys)
  await receiver.waitFor(24)
  const count = async (sql: string) => Number((await db.rows<{ n: bigint }>(sql))[0]?.n)
  const isSent = async () =>
    mail_ids.length >= 12 &&
    (await count('select count(*) n from deliveries')) === 0 &&
    (await count(`select count(*) n from notices where state = 'due'`)) === 0
  assert(await eventually(isSent, { within_ms: 30_000 }), 'all are sent')
  const delivered = receiver.received.map(({ event }) => event.id)
  assert.equal(new Set(delivered).size, delivered.length, 'no event was delivered twice')
  assert.equal(new Set(mail_ids).size, mail_ids.length, 'no email was sent twice')
  assert.equal(
    mail_ids.length,
    await count(`select count(*) n from notices where state = 'sent'`),
    'every email was sent',
  )
})

test('a worker that cannot start is tried again, later each time, while the others serve', async () => {
  const key_file = join(folder.path, 'keys.json')
  const keys = await readFile(key_file, 'utf8')
  const [killed = 0] = workerPids(service.pid)
  await writeFile(key_file, '{')
  process.kill(killed, 'SIGKILL')
  const says = (text: string) => async () => service.output().includes(text)
  assert(await eventually(says('a worker could not start'), { within_ms: 30_000 }))
  assert(await eventually(says('"restarts_in_ms":500'), { within_ms: 30_000 }))
  assert(await eventually(says('"restarts_in_ms":1000'), { within_ms: 30_000 }))
  assert.equal((await send(service.url, 'GET', '/healthz')).status, 200)
  await writeFile(key_file, keys)
  await waitForReplacement(service, killed)
})

test('SIGTERM finishes the requests of all workers, takes no new ones and exits with 0', async () => {
  const ada = await openAccount(service.url)
  const pids = workerPids(service.pid)
  // The requests wait for this row, so they are in flight when the signal arrives.
  const held = await holdRows(db, (tx) =>
    tx.rows('select 1 from account_sequences where account_id = $1 for update', [ada.account_id]),
  )
  const create = () =>
    send(service.url, 'POST', '/v1/api_keys', { bearer: ada.bearer, body: {}, headers: {} })
  const in_flight = Promise.all(Array.from({ length: 2 * WORKERS }, create))
  const waiting = async () => {
    const [row] = await db.rows<{ n: bigint }>(
      `select count(*) n from pg_stat_activity where wait_event_type = 'Lock'`,
    )
    return Number(row?.n) >= 1
  }
  assert(await eventually(waiting, { within_ms: 10_000 }))
  service.signal('SIGTERM')
  // A connection that arrives while the last worker closes its port may hang until the parent ends.
  const isRefused = () =>
    fetch(`${service.url}/healthz`, { signal: AbortSignal.timeout(500) }).then(
      () => false,
      () => true,
    )
  assert(await eventually(isRefused, { within_ms: 10_000 }), 'no new one is taken')
  await held.release()
  const statuses = (await in_flight).map(({ status }: Reply) => status)
  assert.deepEqual(new Set(statuses), new Set([201]))
  assert.deepEqual(await service.ended, { code: 0, signal: null })
  assert(await haveEnded(pids, 0), 'no worker is left')
})

test('a port that is in use stops the start, with the name of its setting', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  after(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const { code, output } = await florin(['start'], { ...env, FLORIN_PORT: String(port) })
  assert.equal(code, 78, output)
  assert.match(output, /Port \d+ is already in use\. Set FLORIN_PORT to a free port\./)
})

test('a caller has one limit over all workers, for calls, sign-ins and streams', async () => {
  service = await startFlorin(env)
  const { bearer, email } = await openAccount(service.url)
  const began = performance.now()
  const signIn = () =>
    send(service.url, 'POST', '/v1/sessions', { body: { email, password: 'a wrong password' } })
  const tries = await Promise.all(Array.from({ length: 40 }, signIn))
  // The bucket holds ten and gets another one every six seconds.
  const refilled = Math.floor((performance.now() - began) / 6_000)
  const counted = tries.filter(({ status }) => status !== 429).length
  assert(counted >= 10 && counted <= 10 + refilled, `${counted} sign-ins were not limited`)

  // One after another, so that each worker has some of them.
  const openStreams = async (tries: number) => {
    const opened: ActivityStream[] = []
    for (let at = 0; at < tries; at += 1) opened.push(await followActivity(service.url, bearer))
    return opened.filter(({ status }) => status === 200)
  }
  const streams = await openStreams(12)
  assert.equal(streams.length, 10, 'streams of one credential')
  let lost = 0
  for (const stream of streams) {
    void stream.ended.then(() => {
      lost += 1
    })
  }
  const [killed = 0] = workerPids(service.pid)
  process.kill(killed, 'SIGKILL')
  await waitForReplacement(service, killed)
  assert(lost > 0 && lost < 10, `the killed worker had ${lost} streams`)
  const again = await openStreams(12)
  assert.equal(again.length, lost, 'the places of the killed worker are free again')
  for (const stream of [...streams, ...again]) stream.close()
})

test('workers end themselves when their parent is killed, and the next start works', async () => {
  const pids = workerPids(service.pid)
  assert.equal(pids.length, WORKERS)
  service.signal('SIGKILL')
  await service.ended
  assert(await haveEnded(pids, 5_000), 'the workers ended')
  service = await startFlorin(env)
  assert.equal((await send(service.url, 'GET', '/healthz')).status, 200)
})
