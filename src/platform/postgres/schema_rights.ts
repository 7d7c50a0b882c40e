import type pg from 'pg'
import { ConfigError } from '#platform/settings/environment.ts'
import { ACCOUNT_ROLE, SERVICE_ROLE } from './roles.ts'
import { quoted } from './whole_tables.ts'

/** Creates the schema of a cell. The caller holds the lock of migrations. */
export async function createSchema(
  client: pg.ClientBase,
  schema: string,
  login: string,
): Promise<void> {
  try {
    await client.query(`create schema ${quoted(schema)}`)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ConfigError(
      `The database login ${login} can't use or create the schema ${schema}: ${reason}. Have an ` +
        `administrator run: create schema ${quoted(schema)} authorization ${quoted(login)};`,
    )
  }
}

/** All roles may use the schema public; a new schema must be granted to them. */
export async function grantSchema(client: pg.ClientBase, schema: string): Promise<void> {
  for (const role of [SERVICE_ROLE, ACCOUNT_ROLE]) {
    const { rows } = await client.query<{ can: boolean }>(
      `select has_schema_privilege($1, $2, 'USAGE') as can`,
      [role, schema],
    )
    if (rows[0]?.can === true) continue
    await client.query(`grant usage on schema ${quoted(schema)} to ${role}`)
  }
}
