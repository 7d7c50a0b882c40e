import { Problem } from '#contract/problem.ts'
import { type Scope, scopes } from '#contract/scopes.ts'
import type { Caller, Seams } from '#platform/context.ts'
import { bearerHash, bearerKindOf } from './bearer.ts'
import { type CredentialRow, findApiKeyByHash, findSessionByHash } from './credential_store.ts'

/**
 * Bearer → caller, without a query for every request: what the database said is remembered for half
 * a second. A change of the account's credentials is forgotten at once on the node that made it and
 * on a notice everywhere else, so the half second only bounds what a lost notice can do.
 */
export type Credentials = {
  callerOf(bearer: string): Promise<Caller>
  forget(account_id: string): void
}

const REMEMBER_MS = 500
const REMEMBERED_MAX = 10_000
const ALL_SCOPES: ReadonlySet<Scope> = new Set(Object.keys(scopes) as Scope[])

type Remembered = {
  row: Promise<CredentialRow | undefined>
  until: number
  account_id: string | null
}

export function makeCredentials({
  db,
  keys,
  clock,
}: Pick<Seams, 'db' | 'keys' | 'clock'>): Credentials {
  const remembered = new Map<string, Remembered>()

  const look = (bearer: string, kind: 'session' | 'api_key'): Remembered => {
    const hash = bearerHash(keys, bearer)
    const find = kind === 'session' ? findSessionByHash : findApiKeyByHash
    const entry: Remembered = {
      row: find(db, hash),
      until: clock.monotonic() + REMEMBER_MS,
      account_id: null,
    }
    entry.row.then(
      (row) => {
        entry.account_id = row?.account_id ?? null
      },
      () => remembered.delete(bearer),
    )
    if (remembered.size >= REMEMBERED_MAX) remembered.clear()
    remembered.set(bearer, entry)
    return entry
  }

  return {
    callerOf: async (bearer) => {
      const kind = bearerKindOf(bearer)
      if (kind === null || kind === 'mistyped') throw invalidToken()
      const known = remembered.get(bearer)
      const entry =
        known !== undefined && known.until > clock.monotonic() ? known : look(bearer, kind)
      const row = await entry.row
      if (row === undefined) throw invalidToken()
      requireUsable(row, clock.now())
      return callerFrom(row)
    },
    forget: (account_id) => {
      // An answer still on its way may predate the change, so it is not kept either.
      for (const [bearer, entry] of remembered) {
        if (entry.account_id === account_id || entry.account_id === null) remembered.delete(bearer)
      }
    },
  }
}

function invalidToken(): Problem {
  return new Problem(
    'invalid_token',
    'This bearer is not known here. Sign in again or check the key.',
  )
}

function requireUsable(row: CredentialRow, now: Date): void {
  if (row.ended_at !== null) {
    throw new Problem('token_revoked', 'This bearer was revoked or signed out.')
  }
  if (row.expires_at !== null && row.expires_at <= now) {
    throw new Problem('token_expired', 'This session has expired. Sign in again.')
  }
  if (row.account_status === 'suspended') {
    throw new Problem('account_suspended', 'This account is suspended. Contact support.')
  }
}

function callerFrom(row: CredentialRow): Caller {
  return {
    kind: row.kind,
    id: row.id,
    name: row.name,
    account_id: row.account_id,
    scopes: ALL_SCOPES,
    card_ids: null,
    rate_profile: row.rate_profile,
  }
}
