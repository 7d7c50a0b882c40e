import { recordAudit } from '#domain/audit/audit.ts'
import { auditContextOf } from '#domain/audit/audit_context.ts'
import type { Caller, Dependencies, RequestContext } from '#domain/context/context.ts'
import type { Database, Tx } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import {
  insertKeyUse,
  type KeyTouch,
  type SessionTouch,
  touchApiKey,
  touchApiKeys,
  touchGrants,
  touchSessions,
} from './credential_store.ts'

/**
 * Records the use of API keys, grants and sessions. The first use of a key or grant from an IP on a
 * day is audited before the response; later ones only update last_used_at. A task writes those in
 * batches, so a busy key costs no write per call. A session was audited when it started.
 */
export type KeyUses = {
  /** Null if nothing must be written before the response. */
  note(caller: Caller, request: RequestContext, operation: string): Promise<void> | null
  flush(): Promise<void>
}

/** About half a kilobyte each. */
const KEYS_MAX = 50_000
const IPS_MAX = 100
const DAY_MS = 24 * 3_600_000
const dayOf = (at: Date) => Math.floor(at.getTime() / DAY_MS)

type KeyUseDependencies = { db: Database; clock: Clock; newId: Dependencies['newId'] }
type CredentialUse = { caller: Caller; request: RequestContext; operation: string; at: Date }

export function makeKeyUses({ db, clock, newId }: KeyUseDependencies): KeyUses {
  /** Key id → IP → latest use. Nested, so a look-up builds no string per call. */
  const uses = new Map<string, Map<string, KeyTouch>>()
  let touches = new Map<string, KeyTouch>()
  let session_touches = new Map<string, SessionTouch>()

  const recordFirst = async ({ caller, request, operation, at }: CredentialUse) => {
    const used = resourceUsedBy(caller)
    const touch = { account_id: caller.account_id, key_id: used.id, ip: request.ip, at }
    const day = at.toISOString().slice(0, 10)
    await db.transaction(async (tx) => {
      await writeTouch(tx, touch)
      if (!(await insertKeyUse(tx, { ...touch, day }))) return
      const { action, id, type } = used
      const context = auditContextOf({ caller, request, operation, clock, newId })
      await recordAudit(tx, caller.account_id, [{ action, resource: { type, id } }], context)
    })
    forgetOldest(uses)
    const uses_by_ip = uses.get(used.id) ?? new Map<string, KeyTouch>()
    if (uses_by_ip.size >= IPS_MAX) uses_by_ip.clear()
    uses.set(used.id, uses_by_ip.set(request.ip, touch))
  }

  return {
    note: (caller, request, operation) => {
      const at = clock.now()
      if (caller.kind === 'session') {
        session_touches.set(caller.id, { account_id: caller.account_id, id: caller.id, at })
        return null
      }
      const last = uses.get(caller.grant_id ?? caller.id)?.get(request.ip)
      if (last === undefined || dayOf(last.at) !== dayOf(at)) {
        return recordFirst({ caller, request, operation, at })
      }
      last.at = at
      touches.set(last.key_id, last)
      return null
    },
    flush: async () => {
      const batch = [...touches.values()]
      const sessions = [...session_touches.values()]
      touches = new Map()
      session_touches = new Map()
      if (batch.length > 0) await writeTouches(db, batch)
      if (sessions.length > 0) await touchSessions(db, sessions)
    },
  }
}

/** A grant has many short-lived tokens, so the use is recorded on the grant. */
function resourceUsedBy({ id, grant_id }: Caller): { action: string; type: string; id: string } {
  if (grant_id !== undefined) return { action: 'oauth.used', type: 'grant', id: grant_id }
  return { action: 'api_key.used', type: 'api_key', id }
}

/** Only one: a programme with more keys than this would record the use of all of them again. */
function forgetOldest(uses: Map<string, unknown>): void {
  if (uses.size < KEYS_MAX) return
  const [oldest] = uses.keys()
  if (oldest !== undefined) uses.delete(oldest)
}

async function writeTouch(tx: Tx, touch: KeyTouch): Promise<void> {
  await (isGrant(touch) ? writeTouches(tx, [touch]) : touchApiKey(tx, touch))
}

const isGrant = ({ key_id }: KeyTouch): boolean => key_id.startsWith('grant_')

async function writeTouches(tx: Tx, touches: readonly KeyTouch[]): Promise<void> {
  const grants = touches.filter(isGrant).map(({ key_id, ip, at }) => ({ id: key_id, ip, at }))
  const keys = touches.filter((touch) => !isGrant(touch))
  if (keys.length > 0) await touchApiKeys(tx, keys)
  if (grants.length > 0) await touchGrants(tx, grants)
}
