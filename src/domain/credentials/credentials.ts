import { accountSuspended, tokenRevoked } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import { type Scope, scope_names } from '#contract/scopes.ts'
import type { Caller, Dependencies } from '#domain/context/context.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import { type BearerKind, bearerHashes, bearerKindOf } from './bearer.ts'
import {
  type CredentialRow,
  findApiKeyByHash,
  findSessionByHash,
  findTokenByHash,
  renewBearerHash,
} from './credential_store.ts'
import { oauthHashes } from './oauth_hash.ts'
import { type ResourceName, resourceNamed } from './resource.ts'
import { grantedScopes } from './token_access.ts'

/**
 * Bearer → caller, without a query for every request: what the database said is remembered for half
 * a second. A change of the account's credentials is forgotten at once on the node that made it and
 * on a notice everywhere else, so the half second only bounds what a lost notice can do.
 */
export type Credentials = {
  /** `resource` is what an OAuth token must have been made for. */
  callerOf(bearer: string, resource?: ResourceName): Promise<Caller>
  /** As callerOf and at once, where that is remembered; null where the database must be asked. */
  recall(bearer: string, resource?: ResourceName): Caller | null
  forget(account_id: string): void
}

const REMEMBER_MS = 500
const REMEMBERED_MAX = 10_000
const ALL_SCOPES: ReadonlySet<Scope> = new Set(scope_names)

/** The form of an OAuth token. */
const TOKEN = /^[\w-]{32,128}$/

type Remembered = {
  row: Promise<CredentialRow | undefined>
  /** The row once it has come; undefined too where there is none. */
  found: CredentialRow | undefined
  until: number
}

type Needs = Pick<Dependencies, 'db' | 'keys' | 'clock' | 'settings'>

export function makeCredentials(needs: Needs): Credentials {
  const { clock } = needs
  const remembered = new Map<string, Remembered>()

  const look = (bearer: string, kind: BearerKind | null): Remembered => {
    const entry: Remembered = {
      row: find(needs, bearer, kind),
      found: undefined,
      until: clock.monotonic() + REMEMBER_MS,
    }
    entry.row.then(
      (row) => {
        entry.found = row
      },
      () => remembered.delete(bearer),
    )
    if (remembered.size >= REMEMBERED_MAX) remembered.clear()
    remembered.set(bearer, entry)
    return entry
  }

  const fresh = (bearer: string): Remembered | undefined => {
    const known = remembered.get(bearer)
    return known !== undefined && known.until > clock.monotonic() ? known : undefined
  }

  return {
    callerOf: async (bearer, resource = 'rest') => {
      const row = await (fresh(bearer) ?? look(bearer, kindOf(bearer))).row
      if (row === undefined) throw invalidToken()
      return judge(needs, row, resource)
    },
    recall: (bearer, resource = 'rest') => {
      const row = fresh(bearer)?.found
      return row === undefined ? null : judge(needs, row, resource)
    },
    forget: (account_id) => {
      // An answer still on its way may predate the change, so it is not kept either.
      for (const [bearer, entry] of remembered) {
        if (entry.found === undefined || entry.found.account_id === account_id) {
          remembered.delete(bearer)
        }
      }
    },
  }
}

async function find({ db, keys }: Needs, bearer: string, kind: BearerKind | null) {
  if (kind === null) return findTokenByHash(db, oauthHashes(keys, bearer))
  const hashes = bearerHashes(keys, bearer)
  const row = await (kind === 'session'
    ? findSessionByHash(db, hashes)
    : findApiKeyByHash(db, hashes))
  const [current = ''] = hashes
  // The next use tries again; a bearer is not refused because its hash could not be renewed.
  if (row !== undefined && row.hash !== current) {
    await renewBearerHash(db, { kind, from: row.hash, to: current }).catch(() => undefined)
  }
  return row
}

function judge({ clock, settings }: Needs, row: CredentialRow, resource: ResourceName): Caller {
  requireUsable(row, clock)
  if (row.token === undefined) return callerFrom(row, ALL_SCOPES)
  if (resourceNamed(settings, row.token.audience) !== resource) throw otherResource(resource)
  return callerFrom(row, grantedScopes(settings, row.token))
}

/** Null for an OAuth token. What has no known form is refused without asking the database. */
function kindOf(bearer: string): BearerKind | null {
  const kind = bearerKindOf(bearer)
  if (kind === 'mistyped' || (kind === null && !TOKEN.test(bearer))) throw invalidToken()
  return kind
}

function invalidToken(): Problem {
  return new Problem('invalid_token', 'Authentication failed. Sign in again or check the API key.')
}

function requireUsable(row: CredentialRow, clock: Clock): void {
  if (row.ended_at !== null) {
    throw tokenRevoked()
  }
  if (row.expires_at !== null && row.expires_at <= clock.now()) {
    throw new Problem('token_expired', 'This session or token has expired. Sign in again.')
  }
  if (row.account_status === 'suspended') {
    throw accountSuspended()
  }
}

function otherResource(resource: ResourceName): Problem {
  const place = resource === 'mcp' ? 'the agent tools' : 'the REST API'
  return new Problem('invalid_token', `This token was not issued for ${place}.`)
}

function callerFrom(row: CredentialRow, scopes: ReadonlySet<Scope>): Caller {
  const { kind, id, name, account_id, rate_profile, token } = row
  const caller = { kind, id, name, account_id, scopes, card_ids: null, rate_profile }
  if (token === undefined) return caller
  return { ...caller, card_ids: token.card_ids, grant_id: token.grant_id }
}
