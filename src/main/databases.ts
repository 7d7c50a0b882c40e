import type { Dependencies } from '#domain/context/context.ts'
import {
  type AccountPool,
  type Database,
  type DatabaseRole,
  openAccountPool,
  openDatabase,
} from '#platform/postgres/db.ts'
import { migrate } from '#platform/postgres/migrate.ts'
import { canCopy, SERVICE_ROLE } from '#platform/postgres/roles.ts'
import type { Settings } from '#settings/settings.ts'

type Connecting = Partial<Pick<Dependencies, 'log' | 'fail'>> & { onCommit(): void }

export type Databases = { db: Database; account_pool: AccountPool; role: DatabaseRole }

/** About 31 a node with the engine's and listeners': three nodes fit PostgreSQL's limit of 100. */
const SERVICE_CONNECTIONS = 12
const ACCOUNT_CONNECTIONS = 12

/**
 * Migrates as the login, and opens the connections that the service works with: none of them acts
 * as the owner of a table.
 */
export async function openDatabases(
  url: string,
  { account_database_url }: Settings,
  dependencies: Connecting,
): Promise<Databases> {
  const role = { name: SERVICE_ROLE, can_copy: await migrated(url, dependencies) }
  return {
    db: openDatabase(url, { ...dependencies, role, pool_size: SERVICE_CONNECTIONS }),
    account_pool: openAccountPool(account_database_url?.open() ?? url, {
      ...dependencies,
      pool_size: ACCOUNT_CONNECTIONS,
    }),
    role,
  }
}

async function migrated(url: string, { log }: Connecting): Promise<boolean> {
  const login = openDatabase(url, { pool_size: 1, ...(log && { log }) })
  try {
    await migrate(login)
    return await canCopy(login)
  } finally {
    await login.close()
  }
}
