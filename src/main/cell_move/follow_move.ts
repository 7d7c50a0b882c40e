import { setTimeout as wait } from 'node:timers/promises'
import { findCellMove, isSwitching } from '#domain/directory/cell_move_store.ts'
import { DatabaseAddress, type DatabaseUrls } from '#platform/postgres/database_address.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import { SERVICE_ROLE } from '#platform/postgres/roles.ts'
import type { Keys } from '#platform/storage/keys.ts'
import { openUrls } from './sealed_urls.ts'

const POLL_MS = 25

type Follower = { cell: number; keys(): Promise<Keys>; onMove(): void }

/** The address of a cell's database. It follows the database to the server it was moved to. */
export function followingAddress(urls: DatabaseUrls, follower: Follower): DatabaseAddress {
  const { cell, keys, onMove } = follower
  return new DatabaseAddress(urls, async ({ url }) => {
    const role = { name: SERVICE_ROLE, can_copy: false }
    const db = openDatabase(url, { role, pool_size: 1 })
    try {
      while (await isSwitching(db)) await wait(POLL_MS)
      // Read after the lock is free: it is released when the move is committed.
      const move = await findCellMove(db)
      if (move?.state !== 'moved') return null
      onMove()
      return openUrls(await keys(), cell, move)
    } finally {
      await db.close()
    }
  })
}
