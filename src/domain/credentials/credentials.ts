import { accountSuspended, tokenRevoked } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import { type Scope, scope_names } from '#contract/scopes.ts'
import type { Caller } from '#domain/context/context.ts'
import type { Database } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Keys } from '#platform/storage/keys.ts'
import type { Settings } from '#settings/settings.ts'
import { type BearerKind, bearerHashes, bearerKindOf } from './bearer.ts'
import {
  type CredentialRow,
  findApiKeyByHash,
  findSessionByHash,
  findTokenByHash,
  renewBearerHash,
} from './credential_store.ts'
import { oauthHashes } from './oauth_hash.ts'
import { audienceOf, type ResourceName } from './resource.ts'
import { grantedScopes } from './token_access.ts'

/**
 * Finds the caller of a bearer and remembers it for half a second, so most requests need no query.
 * When credentials change, their node forgets them immediately and the others on NOTIFY. If a
 * notification is lost, the half second bounds the delay.
 */
export type Credentials = {
  /** An OAuth token must have been issued for this resource. */
  callerOf(bearer: string, resource?: ResourceName): Promise<Caller>
  /** Like callerOf, but synchronous; null if the bearer is not remembered. */
  recall(bearer: string, resource?: ResourceName): Caller | null
  forget(account_id: string): void
}

const REMEMBER_MS = 500
const REMEMBERED_MAX = 10_000
const ALL_SCOPES: ReadonlySet<Scope> = new Set(scope_names)

const OAUTH_TOKEN = /^[\w-]{32,128}$/

type CacheEntry = {
  query: Promise<CredentialRow | undefined>
  /** The result of the query; undefined while it runs or if there is no such credential. */
  row: CredentialRow | undefined
  expires_ms: number
}

type CredentialDependencies = { db: Database; keys: Keys; clock: Clock; settings: Settings }

export function makeCredentials(dependencies: CredentialDependencies): Credentials {
  const { clock } = dependencies
  const remembered = new Map<string, CacheEntry>()

  const load = (bearer: string, kind: BearerKind | null): CacheEntry => {
    const entry: CacheEntry = {
      query: findCredential(dependencies, bearer, kind),
      row: undefined,
      expires_ms: clock.monotonic() + REMEMBER_MS,
    }
    entry.query.then(
      (row) => {
        entry.row = row
      },
      () => remembered.delete(bearer),
    )
    if (remembered.size >= REMEMBERED_MAX) remembered.clear()
    remembered.set(bearer, entry)
    return entry
  }

  const findFresh = (bearer: string): CacheEntry | undefined => {
    const entry = remembered.get(bearer)
    return entry !== undefined && entry.expires_ms > clock.monotonic() ? entry : undefined
  }

  return {
    callerOf: async (bearer, resource = 'rest') => {
      const row = await (findFresh(bearer) ?? load(bearer, requireKind(bearer))).query
      if (row === undefined) throw invalidToken()
      return requireCaller(dependencies, row, resource)
    },
    recall: (bearer, resource = 'rest') => {
      const row = findFresh(bearer)?.row
      return row === undefined ? null : requireCaller(dependencies, row, resource)
    },
    forget: (account_id) => {
      // A query that is still running may have read the old row, so it is forgotten too.
      for (const [bearer, entry] of remembered) {
        if (entry.row === undefined || entry.row.account_id === account_id) {
          remembered.delete(bearer)
        }
      }
    },
  }
}

async function findCredential(
  { db, keys }: CredentialDependencies,
  bearer: string,
  kind: BearerKind | null,
): Promise<CredentialRow | undefined> {
  if (kind === null) return findTokenByHash(db, oauthHashes(keys, bearer))
  const hashes = bearerHashes(keys, bearer)
  const row = await (kind === 'session'
    ? findSessionByHash(db, hashes)
    : findApiKeyByHash(db, hashes))
  const [current = ''] = hashes
  // If this fails, the bearer still works, and its next use tries again.
  if (row !== undefined && row.hash !== current) {
    await renewBearerHash(db, { kind, from: row.hash, to: current }).catch(() => undefined)
  }
  return row
}

function requireCaller(
  { clock, settings }: CredentialDependencies,
  row: CredentialRow,
  resource: ResourceName,
): Caller {
  requireUsable(row, clock)
  if (row.token === undefined) return callerFrom(row, ALL_SCOPES)
  const audience = audienceOf(settings, row.token.audience)
  if (audience !== resource && audience !== 'both') throw wrongResource(resource)
  return callerFrom(row, grantedScopes(settings, row.token))
}

/** Null for an OAuth token. Refuses malformed bearers without a query. */
function requireKind(bearer: string): BearerKind | null {
  const kind = bearerKindOf(bearer)
  if (kind === 'mistyped' || (kind === null && !OAUTH_TOKEN.test(bearer))) throw invalidToken()
  return kind
}

function invalidToken(): Problem {
  return new Problem('invalid_token', 'Authentication failed. Sign in again or check the API key.')
}

function requireUsable(row: CredentialRow, clock: Clock): void {
  if (row.ended_at !== null) throw tokenRevoked()
  if (row.expires_at !== null && row.expires_at <= clock.now()) {
    throw new Problem('token_expired', 'This session or token has expired. Sign in again.')
  }
  if (row.account_status === 'suspended') throw accountSuspended()
}

function wrongResource(resource: ResourceName): Problem {
  const name = resource === 'mcp' ? 'the agent tools' : 'the REST API'
  return new Problem('invalid_token', `This token was not issued for ${name}.`)
}

function callerFrom(row: CredentialRow, scopes: ReadonlySet<Scope>): Caller {
  const { kind, id, name, account_id, rate_profile, token } = row
  const caller = { kind, id, name, account_id, scopes, card_ids: null, rate_profile }
  if (token === undefined) return caller
  return { ...caller, card_ids: token.card_ids, grant_id: token.grant_id }
}
