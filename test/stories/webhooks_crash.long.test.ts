import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openDatabase } from '#platform/postgres/db.ts'
import type { Failpoint } from '#platform/runtime/failpoints.ts'
import { advance } from '#test/support/calls.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { node_env } from '#test/support/node_env.ts'
import { openAccount } from '#test/support/people.ts'
import { startReceiver } from '#test/support/receiver.ts'
import { makeEvent, subscribe } from '#test/support/webhooks.ts'

const points: readonly Failpoint[] = [
  'before_commit',
  'after_commit',
  'events_fanned_out',
  'delivery_leased',
  'delivery_sent',
  'delivery_recorded',
]

type Node = { url: string; child: ChildProcess; lines: AsyncIterator<string> }

const program = fileURLToPath(new URL('../support/killed_node.js', import.meta.url))

async function startNode(env: Record<string, string>, point = ''): Promise<Node> {
  const child = spawn(process.execPath, [program, point], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  after(() => child.kill('SIGKILL'))
  assert(child.stdout !== null)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const { value } = await lines.next()
  return { url: String(value), child, lines }
}

for (const point of points) {
  test(`after a kill at ${point}, every committed event is delivered`, async () => {
    const database = await cloneDatabase()
    const data_dir = await mkdtemp(join(tmpdir(), 'florin_crash_'))
    const db = openDatabase(database.url, { pool_size: 1 })
    after(async () => {
      await db.close()
      await database.drop()
      await rm(data_dir, { recursive: true, force: true })
    })
    const env = {
      ...node_env,
      FLORIN_DATA_DIR: data_dir,
      FLORIN_DATABASE_URL: database.url,
      FLORIN_OPERATOR_TOKEN: 'operator_token_of_the_tests',
    }
    const first = await startNode(env, point)
    const receiver = await startReceiver()
    const person = await openAccount(first.url)
    await subscribe(first.url, person, { url: receiver.url })
    const ended = once(first.child, 'exit')
    first.child.kill('SIGUSR2')
    await first.lines.next()
    for (let at = 0; at < 3; at += 1) await makeEvent(first.url, person).catch(() => undefined)
    assert.deepEqual(await ended, [null, 'SIGKILL'])

    const second = await startNode(env)
    await makeEvent(second.url, person)
    // The leases of the first node expire.
    await advance(second.url, person.bearer, 121)
    const events = await db.rows<{ id: string; sequence: bigint; body: string }>(
      'select id, sequence, body from events where account_id = $1 and sequence > 1 order by id',
      [person.account_id],
    )
    assert.deepEqual(
      events.map(({ sequence }) => Number(sequence)),
      events.map((_, at) => at + 2),
      'the sequence has no gap',
    )
    await receiver.waitFor(events.length, 10_000)
    const received = new Map(receiver.received.map(({ event, body }) => [event.id, body]))
    for (const { id, body } of events) assert.equal(received.get(id), body)
    assert.equal(received.size, events.length, 'only committed events were delivered')
    second.child.kill('SIGTERM')
    second.child.kill('SIGKILL')
  })
}
