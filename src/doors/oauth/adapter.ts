import type { Adapter, AdapterPayload } from 'oidc-provider'
import { BROWSER_SESSION_MS, isSignedIn } from '#domain/accounts/browser_sessions.ts'
import type { AuditContext } from '#domain/audit/audit.ts'
import { notifyCredentialsChanged } from '#domain/credentials/credential_store.ts'
import { findGrant, findLiveGrantsOfClient } from '#domain/credentials/grant_store.ts'
import { oauthHash, oauthHashes } from '#domain/credentials/oauth_hash.ts'
import {
  consumePayload,
  consumePayloadsOfGrant,
  deletePayload,
  deletePayloadsOfGrant,
  findPayload,
  findPayloadByUid,
  type OauthPayload,
  upsertPayload,
} from '#domain/credentials/oauth_payload_store.ts'
import { revokeGrant } from '#domain/oauth_grants/grants.ts'
import { runtimeOfBearer, runtimeOfId } from '#operations/cells.ts'
import type { Runtime } from '#operations/runtime.ts'
import { errors } from './library.ts'

/** Reusing a refresh token or code within this time is not treated as theft (contract 4). */
const GRACE_MS = 10_000

/** IDs that work as credentials, so the database stores only a keyed hash. */
const SECRET_IDS = new Set([
  'AccessToken',
  'RefreshToken',
  'AuthorizationCode',
  'RegistrationAccessToken',
  'Session',
  'Interaction',
])

const BROWSER_MODELS = new Set(['Session', 'Interaction'])

/** Stored in the cell of their grant, which their ID names. All others are in cell 0. */
export const GRANT_MODELS = ['AccessToken', 'RefreshToken', 'AuthorizationCode'] as const
const IN_CELL: ReadonlySet<string> = new Set(GRANT_MODELS)

type AdapterDependencies = Runtime & { auditContext(): AuditContext }

/** Storage of the authorization server: one table for payloads and one for grants. */
export function oauthAdapter(dependencies: AdapterDependencies): (model: string) => Adapter {
  return (model) =>
    model === 'Grant' ? grantAdapter(dependencies) : payloadAdapter(dependencies, model)
}

function payloadAdapter(dependencies: AdapterDependencies, model: string): Adapter {
  const { clock } = dependencies
  const dbOf = (id: string) =>
    IN_CELL.has(model) ? runtimeOfBearer(dependencies, id).db : dependencies.db
  const isSecret = SECRET_IDS.has(model)
  const idOf = (id: string) => (isSecret ? oauthHash(dependencies.keys, id) : id)
  const idsOf = (id: string) => (isSecret ? oauthHashes(dependencies.keys, id) : [id])
  return {
    upsert: async (id, payload, expiresIn) => {
      const now = clock.now()
      const db = dbOf(id)
      const { jti: _jti, ...rest } = payload
      await upsertPayload(db, {
        model,
        id: idOf(id),
        payload: payloadToStore(dependencies, model, rest),
        grant_id: payload.grantId ?? null,
        uid: payload.uid ?? null,
        client_id: payload.clientId ?? null,
        ...signInOf(model, payload),
        now,
        expires_at: expiresAt(model, payload, { now, expiresIn }),
      })
      // A browser session saved again during a key rotation is stored under its new hash.
      const [, ...older] = idsOf(id)
      if (older.length > 0) await deletePayload(db, model, older)
    },
    find: async (id) => {
      const row = await findPayload(dbOf(id), model, idsOf(id))
      return payloadOf(dependencies, model, await unlessSignedOut(dependencies, row), id)
    },
    findByUid: async (uid) => {
      const row = await findPayloadByUid(dependencies.db, model, uid)
      return payloadOf(dependencies, model, await unlessSignedOut(dependencies, row))
    },
    findByUserCode: async () => undefined,
    consume: async (id) => {
      const consumed = { model, ids: idsOf(id), now: clock.now() }
      const isFirst = await consumePayload(dbOf(id), consumed)
      if (!isFirst && model !== 'RefreshToken') throw new errors.InvalidGrant('it was already used')
    },
    destroy: async (id) => {
      if (model === 'Client') await endGrantsOfClient(dependencies, id)
      if (model !== 'AccessToken') return deletePayload(dbOf(id), model, idsOf(id))
      await consumePayload(dbOf(id), { model, ids: idsOf(id), now: clock.now() })
    },
    revokeByGrantId: async (grant_id) => {
      const of_grant = runtimeOfId(dependencies, grant_id)
      const { db } = of_grant
      // A revoked token is kept until it would have expired, so it fails as revoked, not unknown.
      if (model !== 'AccessToken') await deletePayloadsOfGrant(db, grant_id, [model])
      else await consumePayloadsOfGrant(db, { model, grant_id, now: clock.now() })
      const grant = await findGrant(db, grant_id)
      if (grant === undefined) return
      await forgetCredentials(of_grant, grant.account_id)
    },
  }
}

type SignIn = { accountId?: string | undefined; ts?: number | undefined }
type InteractionPayload = { session?: SignIn; result?: { login?: SignIn } }

/** The signed-in account with the sign-in time in seconds of our own clock (see signIn). */
function signInOf(model: string, payload: AdapterPayload) {
  const { session, result } = payload as InteractionPayload
  const login: SignIn =
    model === 'Session'
      ? { accountId: payload.accountId, ts: payload.loginTs }
      : (result?.login ?? session ?? {})
  const { accountId = null, ts } = BROWSER_MODELS.has(model) ? login : {}
  return { account_id: accountId, signed_in_at: ts === undefined ? null : new Date(ts * 1_000) }
}

/** A browser session expires at a fixed time after sign-in; saving it again does not extend it. */
function expiresAt(
  model: string,
  payload: AdapterPayload,
  { now, expiresIn }: { now: Date; expiresIn: number | undefined },
): Date | null {
  const { signed_in_at } = signInOf(model, payload)
  if (model === 'Session' && signed_in_at !== null) {
    return new Date(signed_in_at.getTime() + BROWSER_SESSION_MS)
  }
  return expiresIn === undefined ? null : new Date(now.getTime() + expiresIn * 1_000)
}

/**
 * Cell 0 stores the browser sessions of all accounts, but a sign-out is recorded in the account's
 * own cell. In cell 0 the statement has checked that already.
 */
async function unlessSignedOut(
  dependencies: AdapterDependencies,
  row: OauthPayload | undefined,
): Promise<OauthPayload | undefined> {
  const { account_id = null, signed_in_at = null } = row ?? {}
  if (account_id === null || signed_in_at === null) return row
  const { db } = runtimeOfId(dependencies, account_id)
  if (db === dependencies.db) return row
  return (await isSignedIn(db, account_id, signed_in_at)) ? row : undefined
}

async function forgetCredentials({ db, credentials }: Runtime, account_id: string): Promise<void> {
  await notifyCredentialsChanged(db, account_id)
  credentials.forget(account_id)
}

/** A client secret is only ever compared, so it is stored as a hash. */
function payloadToStore(
  { keys }: AdapterDependencies,
  model: string,
  payload: Record<string, unknown>,
): Record<string, unknown> {
  const secret = payload['client_secret']
  if (model !== 'Client' || typeof secret !== 'string') return payload
  return { ...payload, client_secret: oauthHash(keys, secret) }
}

function payloadOf(
  { clock }: AdapterDependencies,
  model: string,
  row: OauthPayload | undefined,
  id?: string,
): AdapterPayload | undefined {
  const now = clock.now()
  if (row === undefined || (row.expires_at !== null && row.expires_at <= now)) return undefined
  const payload: AdapterPayload = { ...row.payload, ...(id !== undefined && { jti: id }) }
  if (row.consumed_at === null) return payload
  if (model === 'AccessToken') return undefined
  const isWithinGrace = now.getTime() - row.consumed_at.getTime() < GRACE_MS
  // A client with several processes may refresh twice; a reused code only fails.
  if (isWithinGrace && model === 'RefreshToken') return payload
  if (isWithinGrace && model === 'AuthorizationCode') return undefined
  return { ...payload, consumed: Math.floor(row.consumed_at.getTime() / 1_000) }
}

/** The consent step writes grants; the library only reads and ends them. */
function grantAdapter(dependencies: AdapterDependencies): Adapter {
  const { clock } = dependencies
  return {
    upsert: async () => {
      throw new Error('grants are written by the consent step')
    },
    find: async (id) => {
      const grant = await findGrant(runtimeOfId(dependencies, id).db, id)
      const isLive = grant?.revoked_at === null && grant.expires_at > clock.now()
      return isLive ? (grant.payload as AdapterPayload) : undefined
    },
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
    consume: async () => undefined,
    destroy: (id) => endGrant(dependencies, id),
    revokeByGrantId: async () => undefined,
  }
}

async function endGrant(dependencies: AdapterDependencies, id: string): Promise<void> {
  const context = dependencies.auditContext()
  const of_grant = runtimeOfId(dependencies, id)
  const grant = await findGrant(of_grant.db, id)
  const isClient = context.actor_type === 'oauth_client' && grant !== undefined
  const actor = isClient && { actor_id: grant.client_id, actor_name: grant.client_name }
  const audit_context = { ...context, ...actor }
  await revokeGrant(of_grant, id, { account_id: null, audit_context })
}

/**
 * A client that deletes its registration can't refresh or revoke its tokens any more, so its access
 * ends with it, webhooks included (RFC 7592, section 2.3). Its grants end first: if that fails, it
 * can try again.
 */
async function endGrantsOfClient(
  dependencies: AdapterDependencies,
  client_id: string,
): Promise<void> {
  const now = dependencies.clock.now()
  for (const { db } of dependencies.cells?.all ?? [dependencies]) {
    for (const id of await findLiveGrantsOfClient(db, { client_id, now })) {
      await endGrant(dependencies, id)
    }
  }
}
