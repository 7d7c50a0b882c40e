import type pg from 'pg'
import type { Tx } from './tx.ts'

/** What the service's connections act as; migration 0033 says what each may do. */
export const SERVICE_ROLE = 'florin_service'
export const ACCOUNT_ROLE = 'florin_account'

const ROLES = [SERVICE_ROLE, ACCOUNT_ROLE] as const

/** The login cannot set up the database by itself, and what an administrator must run first. */
export class MissingRoles extends Error {}

/**
 * Creates the roles where they are missing and lets this login act as them. Roles belong to the
 * whole server, so another database may have created them already, or be at it just now.
 */
export async function requireRoles(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ login: string; version: number }>(
    `select current_user as login, current_setting('server_version_num')::int as version`,
  )
  const [{ login, version } = { login: '', version: 0 }] = rows
  for (const role of ROLES) {
    try {
      await createRole(client, role)
      if (!(await canBecome(client, role, version))) {
        await settled(client, `grant ${role} to current_user`)
      }
    } catch (cause) {
      throw new MissingRoles(instructionsFor(login), { cause })
    }
  }
}

async function createRole(client: pg.ClientBase, role: string): Promise<void> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [role])
  if (rowCount !== 0) return
  if (role !== SERVICE_ROLE) return settled(client, `create role ${role} nologin`)
  // COPY does not work under row-level security; without the attribute rows are inserted.
  await settled(client, `create role ${role} nologin bypassrls`).catch((cause) => {
    if ((cause as { code?: unknown }).code !== NOT_ALLOWED) throw cause
    return settled(client, `create role ${role} nologin`)
  })
}

const NOT_ALLOWED = '42501'
/** The role or the membership is there: another database's migration was quicker. */
const DONE_ELSEWHERE = new Set(['42710', '23505'])

async function settled(client: pg.ClientBase, sql: string): Promise<void> {
  await client.query(sql).catch((cause) => {
    if (!DONE_ELSEWHERE.has((cause as { code?: string }).code ?? '')) throw cause
  })
}

/** Since version 16 being a member does not mean being allowed to act as the role. */
async function canBecome(client: pg.ClientBase, role: string, version: number): Promise<boolean> {
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
    `this once, then start again: create role ${SERVICE_ROLE} nologin bypassrls; ` +
    `create role ${ACCOUNT_ROLE} nologin; grant ${SERVICE_ROLE}, ${ACCOUNT_ROLE} to ${name};`
  )
}

/** Whether COPY works for the service: it does not where row-level security applies to its role. */
export async function canCopy(tx: Tx): Promise<boolean> {
  const [role] = await tx.rows<{ rolbypassrls: boolean }>(
    'select rolbypassrls from pg_roles where rolname = $1',
    [SERVICE_ROLE],
  )
  return role?.rolbypassrls === true
}
