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
import type { Settings } from '#settings/settings.ts'

type DatabaseDependencies = { log?: Log; fail?: Fail; onCommit(): void }

export type Databases = { db: Database; account_pool: AccountPool; role: DatabaseRole }

/** With the engine and the listeners about 31 per node: three nodes fit into 100 connections. */
const SERVICE_CONNECTIONS = 12
const ACCOUNT_CONNECTIONS = 12

/** Migrates as the login, then opens the service's pools, which don't act as the tables' owner. */
export async function openDatabases(
  url: string,
  { account_database_url }: Settings,
  dependencies: DatabaseDependencies,
): Promise<Databases> {
  const role = { name: SERVICE_ROLE, can_copy: await runMigrations(url, dependencies) }
  return {
    db: openDatabase(url, { ...dependencies, role, pool_size: SERVICE_CONNECTIONS }),
    account_pool: openAccountPool(account_database_url?.open() ?? url, {
      ...dependencies,
      pool_size: ACCOUNT_CONNECTIONS,
    }),
    role,
  }
}

async function runMigrations(url: string, { log }: DatabaseDependencies): Promise<boolean> {
  const login = openDatabase(url, { pool_size: 1, ...(log && { log }) })
  try {
    await migrate(login)
    return await canCopy(login)
  } finally {
    await login.close()
  }
}
