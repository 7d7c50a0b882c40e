import assert from 'node:assert/strict'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { findPrevious } from '#domain/archive/leaving_store.ts'
import { listFindings } from '#domain/system/proof_store.ts'
import { proveChanges } from '#domain/system/prove_books.ts'
import { loadNetworkTotals } from '#domain/system/reconciliation_store.ts'
import { proveBooks } from '#main/audit.ts'
import type { Database, Tx } from '#platform/postgres/db.ts'
import { addMonths, MONTHS_END, withMonthlyBooks } from '#test/support/monthly_books.ts'
import { createArchive } from './create_archive.ts'

const TABLES = ['movements', 'transactions'] as const

const online = async (db: Database): Promise<string[]> => {
  await db.run(`set timezone = 'UTC'`)
  const rows = await Promise.all(
    TABLES.map((table) =>
      db.transaction(async (tx) => {
        await tx.run(`set local timezone = 'UTC'`)
        return tx.rows<{ line: string }>(`select row_to_json(t)::text as line from ${table} t`)
      }),
    ),
  )
  return rows.flat().map(({ line }) => line)
}

async function archived(folder: string): Promise<string[]> {
  const lines: string[] = []
  for (const name of await readdir(folder)) {
    for (const table of TABLES) {
      const bytes = await readFile(join(folder, name, `${table}.jsonl.gz`))
      lines.push(...gunzipSync(bytes).toString('utf8').split('\n').filter(Boolean))
    }
  }
  return lines
}

const prove = (db: Database) => proveBooks(db, MONTHS_END)

test('archived and remaining rows are all rows, and the books are sound before and after', () =>
  withMonthlyBooks(async ({ db, session, folder, input }) => {
    const all = await online(db)
    const [before, networks] = [await prove(db), await loadNetworkTotals(db)]
    assert.deepEqual(before.violations, [])
    const made = await createArchive({ ...input, session })
    assert.equal(made, join(folder, 'cell0_until_2027-03'))
    const [kept, files] = [await online(db), await archived(folder)]
    assert(kept.length > 0 && files.length > 0)
    assert.deepEqual([...kept, ...files].sort(), all.sort())
    const after = await prove(db)
    assert.deepEqual(after.violations, [])
    assert.deepEqual({ ...after.figures, movements: '' }, { ...before.figures, movements: '' })
    assert.deepEqual(await loadNetworkTotals(db), networks)
    assert.equal(await createArchive({ ...input, session }), null, 'nothing is left to archive')
  }))

test('proofs that continue stay sound, and a changed balance is found as before', () =>
  withMonthlyBooks(async ({ db, session, input }) => {
    const run = (now: Date) => proveChanges(db, { now, check: () => undefined })
    await run(MONTHS_END)
    await createArchive({ ...input, session })
    const next = new Date(MONTHS_END.getTime() + 3_600_000)
    await run(next)
    assert.deepEqual(await listFindings(db, 10), [])
    await db.run(`update purses set balance_micros = balance_micros + 1 where kind = 'card'
                   and account_id = 'acct_00001'`)
    const { violations } = await prove(db)
    assert.deepEqual(
      violations.map(({ proof, account_id }) => [proof, account_id]),
      [['every balance equals its entries', 'acct_00001']],
    )
  }))

test('a changed opening is found: the archived sums are part of the proof', () =>
  withMonthlyBooks(async ({ db, session, input }) => {
    await createArchive({ ...input, session })
    await db.run(`update archived_sums set amount_micros = amount_micros - 5
                   where account_id = 'acct_00002' and kind = 'card'`)
    const { violations } = await prove(db)
    assert.deepEqual(
      violations.map(({ proof }) => proof),
      ['all entries sum to zero', 'every balance equals its entries'],
    )
  }))

test('the next archive names the one before it', () =>
  withMonthlyBooks(async ({ db, session, folder, input }) => {
    const all = await online(db)
    await createArchive({ ...input, session })
    const first = await findPrevious(db, 'z')
    const before = new Date('2027-05-01T00:00:00Z')
    await createArchive({ ...input, before, session })
    const text = await readFile(join(folder, 'cell0_until_2027-05', 'manifest.json'), 'utf8')
    assert.equal(JSON.parse(text).previous_sha256, first?.sha256)
    assert.deepEqual([...(await online(db)), ...(await archived(folder))].sort(), all.sort())
    assert.deepEqual((await prove(db)).violations, [])
  }))

/** A connection that breaks before the first statement that begins like this. */
const breaking = (session: Tx, start: string, work?: () => Promise<void>): Tx => ({
  ...session,
  run: async (sql, params) => {
    if (!sql.startsWith(start)) return session.run(sql, params)
    await work?.()
    throw new Error('the connection broke')
  },
})

for (const [step, start] of [
  ['before the rows are written', 'declare archived'],
  ['before the months are detached', 'alter table movements detach'],
  ['between the two tables', 'alter table transactions detach'],
  ['before the detached tables are dropped', 'drop table'],
  ['before that is recorded', 'update archives'],
]) {
  test(`an archive that dies ${step} loses nothing, and the next run completes it`, () =>
    withMonthlyBooks(async ({ db, session, folder, input }) => {
      const all = await online(db)
      const broken = breaking(session, start ?? '')
      await assert.rejects(createArchive({ ...input, session: broken }), /the connection broke/)
      await session.run('rollback')
      assert.deepEqual((await prove(db)).violations, [])
      await createArchive({ ...input, session })
      assert.deepEqual([...(await online(db)), ...(await archived(folder))].sort(), all.sort())
      assert.deepEqual((await prove(db)).violations, [])
      const detached = await db.rows(`select from pg_class where relname like '%leaving'`)
      assert.deepEqual(detached, [])
    }))
}

test('files that were lost while an archive was interrupted are written again', () =>
  withMonthlyBooks(async ({ db, session, folder, input }) => {
    const all = await online(db)
    const broken = breaking(session, 'drop table')
    await assert.rejects(createArchive({ ...input, session: broken }), /the connection broke/)
    await session.run('rollback')
    await rm(folder, { recursive: true })
    await createArchive({ ...input, session })
    assert.deepEqual([...(await online(db)), ...(await archived(folder))].sort(), all.sort())
  }))

test('a purchase that changes while its month is written is archived as it is at the end', () =>
  withMonthlyBooks(async ({ db, session, folder, input }) => {
    let isChanged = false
    const late: Tx = {
      ...session,
      run: async (sql, params) => {
        if (sql === 'begin' && !isChanged) {
          isChanged = true
          await db.run(`update transactions set merchant_name = 'Late' where id = (
                          select min(id) from transactions)`)
        }
        return session.run(sql, params)
      },
    }
    await createArchive({ ...input, session: late })
    const lines = await archived(folder)
    assert.equal(lines.filter((line) => line.includes('"merchant_name":"Late"')).length, 1)
  }))

test('an open authorization keeps its month in the database', () =>
  withMonthlyBooks(async ({ db, session, input }) => {
    await db.run(`update transactions set open_micros = 1, held_micros = 1 where id = (
                    select min(id) from transactions where type = 'authorization')`)
    await assert.rejects(createArchive({ ...input, session }), /1 authorizations .* still open/)
    assert.deepEqual(await findPrevious(db, 'z'), null)
  }))

test('a half-written folder of a command that died is replaced', () =>
  withMonthlyBooks(async ({ db, session, folder, input }) => {
    const broken = breaking(session, 'close archived')
    await assert.rejects(createArchive({ ...input, session: broken }), /the connection broke/)
    await session.run('rollback')
    await writeFile(join(folder, 'cell0_until_2027-03.draft', 'manifest.json'), '{')
    await createArchive({ ...input, session })
    assert.deepEqual(await readdir(folder), ['cell0_until_2027-03'])
    assert.deepEqual((await prove(db)).violations, [])
  }))

test('a write with an ID from before the floor still succeeds', () =>
  withMonthlyBooks(async ({ db, session, input }) => {
    await createArchive({ ...input, session })
    await addMonths(db, new Date('2027-08-01T00:00:00Z'))
    await db.run(`insert into movements (account_id, id, movement, from_kind, to_kind,
        amount_micros, reference_type, reference_id, description, created_at)
      values ('acct_00000', 'bal_' || id_time('2026-11-05') || '0', 'adjusted_up', 'operator',
              'treasury', 1, 'account', '', '', now())`)
  }))
