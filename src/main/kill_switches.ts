import {
  findKillSwitchChanges,
  KILL_SWITCH_CHANNEL,
  type KillSwitchChange,
  takeOverChanges,
} from '#domain/risk/kill_switch_store.ts'
import type { DatabaseAddress } from '#platform/postgres/database_address.ts'
import { type Database, openDatabase } from '#platform/postgres/db.ts'
import { SERVICE_ROLE } from '#platform/postgres/roles.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Log } from '#platform/runtime/log.ts'

export type KillSwitchFollower = {
  /** Returns false if the cell does not respond. It is closed until it has the switches. */
  takeOver(): Promise<boolean>
  stop(): Promise<void>
}

type FollowingCell = {
  /** The database of cell 0. */
  home: Database
  db: Database
  address: DatabaseAddress
  cell: number
  clock: Clock
  log: Log
}

const RETRY_MS = 250

/**
 * Gives a cell the kill switches that operators have set in cell 0: at its start, when one changes,
 * and when the connection to either database was lost. If a change can't be made because the cell
 * is down, this process does not use the cell's database until it is made, or the cell would accept
 * paused payments when it is back. Rejects if a starting cell can't take the switches over.
 */
export async function followKillSwitches(following: FollowingCell): Promise<KillSwitchFollower> {
  const { home, db, address, cell, clock, log } = following
  const stopping = new AbortController()
  const { signal } = stopping
  let changes: KillSwitchChange[] = []
  let reopening: Promise<void> | null = null

  const readChanges = async () => {
    changes = await findKillSwitchChanges(home)
  }
  const isReopened = async (): Promise<boolean> => {
    try {
      // Without cell 0, those that are known have to do.
      await readChanges().catch(() => undefined)
      await takeOverOutsidePool(address, changes)
      return true
    } catch {
      return false
    }
  }
  const reopen = async (): Promise<void> => {
    while (!signal.aborted && !(await isReopened())) await clock.sleep(RETRY_MS, signal)
    reopening = null
  }
  const takeOver = async (): Promise<boolean> => {
    await readChanges()
    try {
      await takeOverChanges(db, changes)
      return true
    } catch (cause) {
      if (reopening === null && !signal.aborted) {
        log.error('a cell could not take over the kill switches; it is closed', { cell }, cause)
        reopening = reopen()
        address.closeUntil(reopening)
      }
      return false
    }
  }
  const onNotify = () => {
    takeOver().catch((cause) => log.error('the kill switches could not be read', { cell }, cause))
  }

  // Before the first reading, or a change between the two would be missed.
  const stopListening = [
    await home.listen(KILL_SWITCH_CHANNEL, onNotify),
    // Nobody sends it here: it signals a reconnect, after which the server may have older rows.
    await db.listen(KILL_SWITCH_CHANNEL, onNotify),
  ]
  const stop = async () => {
    stopping.abort()
    for (const each of stopListening) await each()
    await reopening
  }
  try {
    await readChanges()
    await takeOverChanges(db, changes)
  } catch (cause) {
    await stop()
    throw cause
  }
  return { takeOver, stop }
}

/** The pools of a closed cell wait. The database may have been moved meanwhile. */
async function takeOverOutsidePool(
  address: DatabaseAddress,
  changes: readonly KillSwitchChange[],
): Promise<void> {
  await address.look()
  const role = { name: SERVICE_ROLE, can_copy: false }
  const db = openDatabase(address.urls.url, { role, pool_size: 1 })
  try {
    await takeOverChanges(db, changes)
  } finally {
    await db.close()
  }
}
