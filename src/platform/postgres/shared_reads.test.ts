import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { Tx } from './db.ts'
import { readShared } from './shared_reads.ts'

type Row = { id: string; value: number }
type Statement = { ids: readonly string[]; answer(): void; fail(): void }

const tx = (): Tx => ({
  rows: async () => [],
  run: async () => 0,
  write: async () => 0,
})

/** Long enough for a reader to get a result, wait for the end of the turn and read again. */
async function turn(): Promise<void> {
  await endOfTurn()
  await endOfTurn()
}

/** A store whose statements read when they start, as those of a database do. */
function store(values: Record<string, number>) {
  const statements: Statement[] = []
  const under_way = { now: 0, max: 0 }
  const load = (_tx: Tx, ids: readonly string[]) =>
    new Promise<Row[]>((resolve, reject) => {
      under_way.now += 1
      under_way.max = Math.max(under_way.max, under_way.now)
      const rows = ids.flatMap((id) => {
        const value = values[id]
        return value === undefined ? [] : [{ id, value }]
      })
      statements.push({
        ids,
        answer: () => {
          under_way.now -= 1
          resolve(rows)
        },
        fail: () => {
          under_way.now -= 1
          reject(new Error('no answer'))
        },
      })
    })
  return { values, statements, under_way, load }
}

test('a single read is sent at the end of the turn', async () => {
  const { statements, load } = store({ a: 1 })
  const read = readShared(tx(), load, 'a')
  await turn()
  assert.deepEqual(statements[0]?.ids, ['a'])
  statements[0]?.answer()
  assert.deepEqual(await read, { id: 'a', value: 1 })
})

test('a thousand reads in two turns are two statements, one at a time', async () => {
  const values = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`id${at}`, at]))
  const { statements, under_way, load } = store(values)
  const db = tx()
  const [early, late] = [Object.keys(values).slice(0, 300), Object.keys(values).slice(300)]
  const reads = early.map((id) => readShared(db, load, id))
  await turn()
  reads.push(...late.map((id) => readShared(db, load, id)))
  await turn()
  assert.equal(statements.length, 1)
  statements[0]?.answer()
  await turn()
  statements[1]?.answer()
  const rows = await Promise.all(reads)
  assert.deepEqual(
    rows.map((row) => row?.value),
    Object.values(values),
  )
  assert.equal(statements.length, 2)
  assert.equal(under_way.max, 1)
})

test('many reads of one row request it once, and each gets it', async () => {
  const { statements, load } = store({ a: 1, b: 2 })
  const db = tx()
  const first = readShared(db, load, 'b')
  await turn()
  const reads = Array.from({ length: 50 }, () => readShared(db, load, 'a'))
  statements[0]?.answer()
  await first
  await turn()
  assert.deepEqual(statements[1]?.ids, ['a'])
  statements[1]?.answer()
  for (const row of await Promise.all(reads)) assert.equal(row?.value, 1)
})

test('a missing row is undefined', async () => {
  const { statements, load } = store({})
  const read = readShared(tx(), load, 'nobody')
  await turn()
  statements[0]?.answer()
  assert.equal(await read, undefined)
})

test('a read sees everything that was written before it was requested', async () => {
  const { values, statements, load } = store({ a: 1 })
  const db = tx()
  const early = readShared(db, load, 'a')
  await turn()
  // Written while the first statement is running, which has already read.
  values['a'] = 2
  const late = readShared(db, load, 'a')
  statements[0]?.answer()
  assert.equal((await early)?.value, 1)
  await turn()
  statements[1]?.answer()
  assert.equal((await late)?.value, 2)
  const again = readShared(db, load, 'a')
  await turn()
  assert.equal(statements.length, 3, 'nothing is remembered')
  statements[2]?.answer()
  await again
})

test('a failed statement rejects the reads that shared it and no others', async () => {
  const { statements, load } = store({ a: 1, b: 2, c: 3 })
  const db = tx()
  const first = readShared(db, load, 'a')
  await turn()
  const shared = [readShared(db, load, 'b'), readShared(db, load, 'c')]
  statements[0]?.answer()
  assert.equal((await first)?.value, 1)
  await turn()
  const later = readShared(db, load, 'a')
  statements[1]?.fail()
  for (const outcome of await Promise.allSettled(shared)) assert.equal(outcome.status, 'rejected')
  await turn()
  statements[2]?.answer()
  assert.equal((await later)?.value, 1)
})

test('a load that throws synchronously rejects its reads, and later reads work', async () => {
  let isBroken = true
  const load = (_tx: Tx, ids: readonly string[]): Promise<Row[]> => {
    if (isBroken) throw new Error('not even a promise')
    return Promise.resolve(ids.map((id) => ({ id, value: 0 })))
  }
  const db = tx()
  await assert.rejects(readShared(db, load, 'a'), /not even a promise/)
  isBroken = false
  assert.deepEqual(await readShared(db, load, 'a'), { id: 'a', value: 0 })
})

test('different tables and transactions do not share statements', async () => {
  const [one, two] = [store({ a: 1 }), store({ a: 2 })]
  const db = tx()
  const reads = [
    readShared(db, one.load, 'a'),
    readShared(db, two.load, 'a'),
    readShared(tx(), one.load, 'a'),
  ]
  await turn()
  assert.equal(one.statements.length, 2)
  assert.equal(two.statements.length, 1)
  for (const { answer } of [...one.statements, ...two.statements]) answer()
  assert.deepEqual(
    (await Promise.all(reads)).map((row) => row?.value),
    [1, 2, 1],
  )
})
