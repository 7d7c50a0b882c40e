import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { OutgoingMessage } from '#iso8583/message.ts'
import { startEmbeddedPostgres } from '#platform/embedded_postgres/embedded_postgres.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import { migrate } from '#platform/postgres/migrate.ts'
import { type HostConnection, openConnection } from '#sandbox/card_network.ts'
import { insertBareCard, openIssuer, purchaseMessage } from '#test/support/issuer.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { seeded } from '#test/support/storm.ts'

const ROUNDS = Number(process.env['FLORIN_KILL_ROUNDS'] ?? 30)
const IN_FLIGHT = 48
const CARDS = 8
const seed = Number(process.env['FLORIN_SEED'] ?? Date.now() % 1_000_000_000)
const below = seeded(seed)

const folder = await mkdtemp(join(tmpdir(), 'florin_kill_'))
const postgres = await startEmbeddedPostgres({ data_dir: folder })
after(async () => {
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
})
const first = openDatabase(postgres.url, { pool_size: 1 })
await migrate(first)
await first.close()
const issuer = await openIssuer({ database_url: postgres.url, data_dir: folder })
const cards = await Promise.all(
  Array.from({ length: CARDS }, () => insertBareCard(issuer, { usd: 10_000 })),
)

async function startHost(): Promise<{ child: ChildProcess; port: number }> {
  const script = new URL('../../../test/support/issuer_process.js', import.meta.url)
  const child = fork(script, [folder, postgres.url], { stdio: 'ignore' })
  const [port] = (await once(child, 'message')) as [number]
  return { child, port }
}

/** Messages and the code each got. */
const sent = new Map<OutgoingMessage, string>()
/** Messages without a response, to be sent again. */
const open: OutgoingMessage[] = []

function newMessage(): OutgoingMessage {
  const card = cards[below(CARDS)]
  assert(card !== undefined)
  return purchaseMessage(card, 1 + below(500))
}

const UNDECIDED = ['91', '96']

/** Sends messages until the connection breaks or none is left; repeats undecided ones. */
async function drive(line: HostConnection, next: () => OutgoingMessage | null): Promise<void> {
  const one = async () => {
    while (!line.isDown()) {
      const message = open.shift() ?? next()
      if (message === null) return
      sent.set(message, 'under way')
      const code = await line.send(message).then(
        ({ fields }) => fields[39] ?? '',
        () => null,
      )
      const isDecided = code !== null && !UNDECIDED.includes(code)
      if (isDecided) sent.set(message, code)
      else {
        open.push(message)
        await wait(20)
      }
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, one))
}

function killPostgres(): void {
  const [pid] = readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')
  try {
    process.kill(Number(pid), 'SIGKILL')
  } catch (cause) {
    // It has not restarted since it was last killed, which serves as well.
    if ((cause as NodeJS.ErrnoException).code !== 'ESRCH') throw cause
  }
}

test(`kill -9 of service and database loses and doubles no acknowledged hold, seed ${seed}`, async (t) => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const { child, port } = await startHost()
    const line = await openConnection(port)
    let over = false
    const driven = drive(line, () => (over ? null : newMessage()))
    await wait(200 + below(900))
    if (round % 3 === 2) {
      killPostgres()
      await wait(1_500)
    }
    child.kill('SIGKILL')
    await once(child, 'exit')
    over = true
    line.end()
    await driven
  }
  const { child, port } = await startHost()
  const line = await openConnection(port)
  // Only messages without a response are sent again.
  await drive(line, () => null)
  line.end()
  child.disconnect()

  const rows = await issuer.db.rows<{ rrn: string; held: bigint; n: number }>(
    `select retrieval_reference_number as rrn, sum(held_micros)::bigint as held, count(*)::int as n
       from transactions group by 1`,
  )
  const byRrn = new Map(rows.map((row) => [row.rrn, row]))
  for (const [{ fields }, code] of sent) {
    const row = byRrn.get(fields[37] ?? '')
    assert.equal(row?.n, 1, 'every message left one transaction')
    const expected = code === '00' ? BigInt(fields[4] ?? '0') * 10_000n : 0n
    assert.equal(row?.held, expected, `answered ${code}`)
  }
  await assertBooksSound(issuer.db)
  t.diagnostic(`${ROUNDS} kills, ${sent.size} messages, 0 lost, 0 doubled`)
})
