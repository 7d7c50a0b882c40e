import type { DatabaseAddress } from '#platform/postgres/database_address.ts'
import {
  type AccountPool,
  type Database,
  type DatabaseRole,
  openAccountPool,
  openDatabase,
} from '#platform/postgres/db.ts'
import { migrate } from '#platform/postgres/migrate.ts'
import { canCopy, SERVICE_ROLE } from '#platform/postgres/roles.ts'
import type { Fail } from '#platform/runtime/failpoints.ts'
import type { Log } from '#platform/runtime/log.ts'

type DatabaseDependencies = { log?: Log; fail?: Fail; onCommit(): void }

/** The connections of a process, in the pools of the service, of accounts and of the engine. */
export type PoolSizes = { service: number; account: number; lane_count: number }

export type Databases = {
  db: Database
  account_pool: AccountPool
  role: DatabaseRole
  /** The lanes of the authorization engine. */
  lane_count: number
}

/** With the engine and the listener 28 per node: three nodes fit into 100 connections. */
export const POOL_SIZES: PoolSizes = { service: 12, account: 12, lane_count: 2 }

/** A parent serves few calls itself: those of the sandbox. */
export const PARENT_POOL_SIZES: PoolSizes = { service: 12, account: 3, lane_count: 1 }

/**
 * The pools of one worker of several, which together have about as many connections as one process.
 * One lane each: more lanes would split the same messages into smaller batches, and a batch costs
 * as much as several messages.
 */
export function poolSizesOf(workers: number): PoolSizes {
  const share = (size: number) => Math.max(3, Math.ceil(size / workers) + 1)
  return {
    service: share(POOL_SIZES.service),
    account: share(POOL_SIZES.account),
    lane_count: 1,
  }
}

/** A lookup of the engine, and the listener. */
const OTHER_CONNECTIONS = 2

/** The most connections that a parent and its workers open to one database. */
export function connectionsOf(workers: number): number {
  const sum = ({ service, account, lane_count }: PoolSizes) =>
    service + account + lane_count + OTHER_CONNECTIONS
  return sum(PARENT_POOL_SIZES) + workers * sum(poolSizesOf(workers))
}

type DatabaseOptions = {
  sizes: PoolSizes
  /** False in a worker: its parent has applied the migrations. */
  migrates: boolean
}

/** Opens the service's pools, which don't act as the tables' owner. */
export async function openDatabases(
  address: DatabaseAddress,
  { sizes, migrates, ...dependencies }: DatabaseDependencies & DatabaseOptions,
): Promise<Databases> {
  const can_copy = await prepareAsLogin(address, migrates, dependencies)
  const role = { name: SERVICE_ROLE, can_copy }
  return {
    db: openDatabase(address, { ...dependencies, role, pool_size: sizes.service }),
    account_pool: openAccountPool(address, { ...dependencies, pool_size: sizes.account }),
    role,
    lane_count: sizes.lane_count,
  }
}

/** A start has time to wait for a move to another server. */
const START_WAIT_MS = 10_000

async function prepareAsLogin(
  address: DatabaseAddress,
  migrates: boolean,
  { log }: DatabaseDependencies,
): Promise<boolean> {
  const login = openDatabase(address, {
    pool_size: 1,
    move_wait_ms: START_WAIT_MS,
    ...(log && { log }),
  })
  try {
    if (migrates) await migrate(login)
    return await canCopy(login)
  } finally {
    await login.close()
  }
}
