import type { Clock } from '#platform/runtime/clock.ts'
import type { Database } from './db.ts'
import { notify } from './notify.ts'

const CHANNEL = 'florin_clock'

/** The offset is stored in the database: it survives restarts and is the same on every node. */
export async function followClockOffset(db: Database, clock: Clock): Promise<() => Promise<void>> {
  const read = async () => {
    const [row] = await db.rows<{ offset_ms: bigint }>('select offset_ms from clock')
    clock.setOffset(Number(row?.offset_ms ?? 0n))
  }
  const stop = await db.listen(CHANNEL, () => void read().catch(() => undefined))
  await read()
  return stop
}

export async function advanceClock(db: Database, clock: Clock, seconds: number): Promise<void> {
  const offset_ms = await db.transaction(async (tx) => {
    const [row] = await tx.rows<{ offset_ms: bigint }>(
      'update clock set offset_ms = offset_ms + $1 returning offset_ms',
      [Math.round(seconds * 1_000)],
    )
    await notify(tx, CHANNEL, '')
    return Number(row?.offset_ms ?? 0n)
  })
  clock.setOffset(offset_ms)
}
