import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { move } from '#domain/ledger/move.ts'
import { type Move, post, type Stamp } from '#domain/ledger/post.ts'
import { cardPurse, chain, treasury } from '#domain/ledger/purse.ts'
import { idMaker } from '#kernel/id.ts'
import { startEmbeddedPostgres } from '#platform/embedded_postgres/embedded_postgres.ts'
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { migrate } from '#platform/postgres/migrate.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { insertBareAccount } from '#test/support/accounts.ts'
import { preparePgledger } from './ledger_parts/pgledger.ts'

/**
 * Movements per second on one PostgreSQL with fsync on: our batches and our single transfers
 * compared with pgbench's simple-update (run from Node, because the embedded packages lack pgbench)
 * and with plain transfers, a transaction of six statements each, in the same run. PGLEDGER_DIR, a
 * checkout of pgledger, adds its random transfers.
 */
const ACCOUNTS = 1_000
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4)
const ROUNDS = 3
const CLIENTS = 16
const BATCH = 256

const makeId = idMaker(systemRandom.bytes)
const stamp = (): Stamp => ({
  now: new Date(),
  newId: (prefix, at) => makeId(prefix, at.getTime()),
})

type Candidate = { name: string; run(until: number): Promise<number> }

async function inParallel(
  clients: number,
  until: number,
  once: (client: number) => Promise<number>,
) {
  const counts = await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      let count = 0
      while (performance.now() < until) count += await once(client)
      return count
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

function loadOf(account_id: string): Move {
  return {
    movement: 'card_loaded',
    account_id,
    from: treasury,
    to: cardPurse('card'),
    amount_micros: 1n,
    reference: { type: 'bench', id: 'one' },
    description: 'A load.',
  }
}

async function prepare(db: Database): Promise<string[]> {
  const accounts: string[] = []
  for (let at = 0; at < ACCOUNTS; at += 1) accounts.push(await insertBareAccount(db))
  const settle = accounts.map(
    (account_id): Move => ({
      ...loadOf(account_id),
      movement: 'topup_settled',
      from: chain,
      to: treasury,
      amount_micros: 10n ** 12n,
    }),
  )
  await db.transaction((tx) => post(tx, [...settle, ...accounts.map(loadOf)], stamp()))
  await db.run('create table plain_accounts (id integer primary key, balance bigint, pad text)')
  await db.run(
    'create table plain_entries (id bigserial, account integer, delta bigint, at timestamptz)',
  )
  await db.run(
    `insert into plain_accounts
     select g, 1000000000, repeat('x', 80) from generate_series(1, $1) g`,
    [ACCOUNTS],
  )
  return accounts
}

const random = (below: number) => Math.floor(Math.random() * below)

/** pgbench -N: one UPDATE, one SELECT, one INSERT in a transaction. */
function simpleUpdate(pool: pg.Pool): Candidate {
  return {
    name: 'pgbench simple-update',
    run: (until) =>
      inParallel(CLIENTS, until, async () => {
        const client = await pool.connect()
        const id = 1 + random(ACCOUNTS)
        await client.query('begin')
        await client.query({
          name: 'su1',
          text: 'update plain_accounts set balance = balance + $1 where id = $2',
          values: [1, id],
        })
        await client.query({
          name: 'su2',
          text: 'select balance from plain_accounts where id = $1',
          values: [id],
        })
        await client.query({
          name: 'su3',
          text: 'insert into plain_entries (account, delta, at) values ($1, $2, now())',
          values: [id, 1],
        })
        await client.query('commit')
        client.release()
        return 1
      }),
  }
}

/** The naive transfer: BEGIN, SELECT FOR UPDATE, UPDATE, INSERT, INSERT, COMMIT. */
function plain(pool: pg.Pool): Candidate {
  const entry = 'insert into plain_entries (account, delta, at) values ($1, $2, now())'
  return {
    name: 'plain transfer from Node',
    run: (until) =>
      inParallel(CLIENTS, until, async () => {
        const client = await pool.connect()
        const [a = 1, b = 2] = [1 + random(ACCOUNTS), 1 + random(ACCOUNTS)].sort((x, y) => x - y)
        await client.query('begin')
        await client.query({
          name: 'pl1',
          text: `select id, balance from plain_accounts
                  where id in ($1, $2) order by id for update`,
          values: [a, b],
        })
        await client.query({
          name: 'pl2',
          text: `update plain_accounts
                    set balance = balance + case id when $1 then -1 else 1 end
                  where id in ($1, $2)`,
          values: [a, b],
        })
        await client.query({ name: 'pl3', text: entry, values: [a, -1] })
        await client.query({ name: 'pl3', text: entry, values: [b, 1] })
        await client.query('commit')
        client.release()
        return 1
      }),
  }
}

/** A single transfer is one statement. Each client has its own accounts, as real callers do. */
function single(db: Database, accounts: readonly string[]): Candidate {
  const share = Math.floor(ACCOUNTS / CLIENTS)
  return {
    name: 'our single transfer',
    run: (until) =>
      inParallel(CLIENTS, until, async (client) => {
        const account_id = accounts[client * share + random(share)] ?? ''
        await move(db, loadOf(account_id), stamp())
        return 1
      }),
  }
}

function batched(db: Database, accounts: readonly string[]): Candidate {
  return {
    name: `our batches of ${BATCH}`,
    run: (until) =>
      inParallel(2, until, async (client) => {
        const half = ACCOUNTS / 2
        const moves = Array.from({ length: BATCH }, () =>
          loadOf(accounts[client * half + random(half)] ?? ''),
        )
        await db.transaction((tx) => post(tx, moves, stamp()))
        return BATCH
      }),
  }
}

/** Random transfers of pgledger, where PGLEDGER_DIR names a checkout of it. */
function pgledger({ transfer }: { transfer(): Promise<void> }): Candidate {
  return {
    name: 'pgledger random transfer',
    run: (until) =>
      inParallel(CLIENTS, until, async () => {
        await transfer()
        return 1
      }),
  }
}

const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const data_dir = await mkdtemp(join(tmpdir(), 'florin_bench_'))
const postgres = await startEmbeddedPostgres({ data_dir })
const db = openDatabase(postgres.url, { pool_size: CLIENTS })
const pool = new pg.Pool({ connectionString: postgres.url, max: CLIENTS })
// The server may close a connection before the pool does.
pool.on('error', () => undefined)
try {
  await migrate(db)
  const accounts = await prepare(db)
  const peer = await preparePgledger(pool, { accounts: ACCOUNTS, clients: CLIENTS })
  const candidates = [
    simpleUpdate(pool),
    plain(pool),
    single(db, accounts),
    batched(db, accounts),
    ...(peer === null ? [] : [pgledger(peer)]),
  ]
  const rates = new Map(candidates.map(({ name }) => [name, [] as number[]]))
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const { name, run } of candidates) {
      const started = performance.now()
      const count = await run(started + SECONDS * 1_000)
      rates.get(name)?.push(count / ((performance.now() - started) / 1_000))
    }
    process.stdout.write(`round ${round} of ${ROUNDS} done\n`)
  }
  const rate = (at: number) => median(rates.get(candidates[at]?.name ?? '') ?? [])
  for (const [at, { name }] of candidates.entries()) {
    const times = (other: number) => (rate(at) / rate(other)).toFixed(2)
    const ratios = `${times(0)} × simple-update, ${times(1)} × plain`
    process.stdout.write(`${name.padEnd(28)}${rate(at).toFixed(0).padStart(8)}/s   ${ratios}\n`)
  }
  process.stdout.write('targets: batches ≥ 3 × plain, single ≥ 1.5 × plain\n')
} finally {
  await pool.end()
  await db.close()
  await postgres.stop()
  await rm(data_dir, { recursive: true, force: true })
}
