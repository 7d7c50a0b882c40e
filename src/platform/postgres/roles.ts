import type pg from 'pg'
import type { Tx } from './tx.ts'

/** The roles that the service's connections act as; `guard_table` grants their privileges. */
export const SERVICE_ROLE = 'florin_service'
export const ACCOUNT_ROLE = 'florin_account'

const ROLES = [SERVICE_ROLE, ACCOUNT_ROLE] as const

/** The login may not create the roles. The message is the SQL an administrator must run. */
export class MissingRoles extends Error {}

/**
 * Creates missing roles and lets this login act as them. Roles belong to the whole server, so
 * another database may have created them already, or may be creating them now.
 */
export async function requireRoles(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ login: string; version: number }>(
    `select current_user as login, current_setting('server_version_num')::int as version`,
  )
  const [{ login, version } = { login: '', version: 0 }] = rows
  for (const role of ROLES) {
    try {
      await createRole(client, role)
      if (!(await canSetRole(client, role, version))) {
        await ignoreDuplicate(client, `grant ${role} to current_user`)
      }
    } catch (cause) {
      throw new MissingRoles(instructionsFor(login), { cause })
    }
  }
}

async function createRole(client: pg.ClientBase, role: string): Promise<void> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [role])
  if (rowCount !== 0) return
  if (role !== SERVICE_ROLE) return ignoreDuplicate(client, `create role ${role} nologin`)
  // COPY doesn't work under row-level security; without this attribute rows are inserted.
  await ignoreDuplicate(client, `create role ${role} nologin bypassrls`).catch((cause) => {
    if ((cause as { code?: unknown }).code !== INSUFFICIENT_PRIVILEGE) throw cause
    return ignoreDuplicate(client, `create role ${role} nologin`)
  })
}

const INSUFFICIENT_PRIVILEGE = '42501'
/** The role or the membership exists already: another database's migration was faster. */
const DUPLICATE_CODES = new Set(['42710', '23505'])

async function ignoreDuplicate(client: pg.ClientBase, sql: string): Promise<void> {
  await client.query(sql).catch((cause) => {
    if (!DUPLICATE_CODES.has((cause as { code?: string }).code ?? '')) throw cause
  })
}

/** Since version 16, membership alone doesn't allow acting as the role. */
async function canSetRole(client: pg.ClientBase, role: string, version: number): Promise<boolean> {
  const { rows } = await client.query<{ can: boolean }>(
    'select pg_has_role(current_user, $1, $2) as can',
    [role, version >= 160_000 ? 'SET' : 'MEMBER'],
  )
  return rows[0]?.can === true
}

function instructionsFor(login: string): string {
  const name = `"${login.replaceAll('"', '""')}"`
  return (
    `The database login ${login} may not create roles. Have an administrator of the server run ` +
    `the following, then start again: create role ${SERVICE_ROLE} nologin bypassrls; ` +
    `create role ${ACCOUNT_ROLE} nologin; grant ${SERVICE_ROLE}, ${ACCOUNT_ROLE} to ${name};`
  )
}

/** COPY works only if row-level security doesn't apply to the service's role. */
export async function canCopy(tx: Tx): Promise<boolean> {
  const [role] = await tx.rows<{ rolbypassrls: boolean }>(
    'select rolbypassrls from pg_roles where rolname = $1',
    [SERVICE_ROLE],
  )
  return role?.rolbypassrls === true
}
