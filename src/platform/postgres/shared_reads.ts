import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { Tx } from './db.ts'

type Load<Row> = (tx: Tx, ids: readonly string[]) => Promise<Row[]>
type Waiting<Row> = {
  answer: Promise<Row | undefined>
  resolve(row: Row | undefined): void
  reject(cause: unknown): void
}

const lanes = new WeakMap<object, WeakMap<object, (id: string) => Promise<unknown>>>()

/**
 * Reads of one account that arrive in one turn of the event loop, or while a statement is under
 * way, share the next one. Nothing is remembered between statements, so what a caller gets was
 * committed no earlier than its request came in; and alone, a read waits for nothing but the other
 * requests that have arrived already.
 */
export function readShared<Row extends { id: string }>(
  tx: Tx,
  load: Load<Row>,
  id: string,
): Promise<Row | undefined> {
  let loads = lanes.get(tx)
  if (loads === undefined) {
    loads = new WeakMap()
    lanes.set(tx, loads)
  }
  const known = loads.get(load)
  if (known !== undefined) return known(id) as Promise<Row | undefined>
  const lane = readingLane((ids) => load(tx, ids))
  loads.set(load, lane)
  return lane(id)
}

function readingLane<Row extends { id: string }>(
  load: (ids: readonly string[]) => Promise<Row[]>,
): (id: string) => Promise<Row | undefined> {
  let gathered = new Map<string, Waiting<Row>>()
  let isUnderWay = false

  const flush = async (): Promise<void> => {
    isUnderWay = true
    while (gathered.size > 0) {
      await endOfTurn()
      const batch = gathered
      gathered = new Map()
      try {
        const rows = await load([...batch.keys()])
        const found = new Map(rows.map((row) => [row.id, row]))
        for (const [id, one] of batch) one.resolve(found.get(id))
      } catch (cause) {
        for (const one of batch.values()) one.reject(cause)
      }
    }
    isUnderWay = false
  }

  return (id) => {
    const asked = gathered.get(id)
    if (asked !== undefined) return asked.answer
    const waiting = waitingFor<Row>()
    gathered.set(id, waiting)
    if (!isUnderWay) void flush()
    return waiting.answer
  }
}

function waitingFor<Row>(): Waiting<Row> {
  const waiting = {} as Waiting<Row>
  waiting.answer = new Promise((resolve, reject) => {
    waiting.resolve = resolve
    waiting.reject = reject
  })
  return waiting
}
