import { recordAudit } from '#domain/audit/audit.ts'
import { auditContextOf } from '#domain/audit/audit_context.ts'
import type { Caller, Dependencies, RequestContext } from '#domain/context/context.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { insertKeyUse, type KeyTouch, touchApiKeys, touchGrants } from './credential_store.ts'

/**
 * When and from where keys and grants are used. The first use from an address on a day is an audit
 * entry and is written before the answer; later ones only move last_used_at, gathered and written
 * together by a task, so that a busy key costs no write per call.
 */
export type KeyUses = {
  /** Null where nothing has to be written before the answer. */
  note(caller: Caller, request: RequestContext, operation: string): Promise<void> | null
  flush(): Promise<void>
}

const SEEN_MAX = 10_000
const ADDRESSES_MAX = 100
const DAY_MS = 24 * 3_600_000
const dayOf = (at: Date) => Math.floor(at.getTime() / DAY_MS)

type Needs = Pick<Dependencies, 'db' | 'clock' | 'newId'>
type Use = { caller: Caller; request: RequestContext; operation: string; at: Date }

export function makeKeyUses({ db, clock, newId }: Needs): KeyUses {
  /** The latest use of each key by address: found without a string to be made for every call. */
  const seen = new Map<string, Map<string, KeyTouch>>()
  let touches = new Map<string, KeyTouch>()

  const noteFirst = async ({ caller, request, operation, at }: Use) => {
    const used = usedBy(caller)
    const touch = { account_id: caller.account_id, key_id: used.id, ip: request.ip, at }
    const day = at.toISOString().slice(0, 10)
    await db.transaction(async (tx) => {
      await writeTouches(tx, [touch])
      if (!(await insertKeyUse(tx, { ...touch, day }))) return
      const { action, id, type } = used
      const facts = auditContextOf({ caller, request, operation, clock, newId })
      await recordAudit(tx, caller.account_id, [{ action, resource: { type, id } }], facts)
    })
    if (seen.size >= SEEN_MAX) seen.clear()
    const addresses = seen.get(used.id) ?? new Map<string, KeyTouch>()
    if (addresses.size >= ADDRESSES_MAX) addresses.clear()
    seen.set(used.id, addresses.set(request.ip, touch))
  }

  return {
    note: (caller, request, operation) => {
      const at = clock.now()
      const last = seen.get(caller.grant_id ?? caller.id)?.get(request.ip)
      if (last === undefined || dayOf(last.at) !== dayOf(at)) {
        return noteFirst({ caller, request, operation, at })
      }
      last.at = at
      touches.set(last.key_id, last)
      return null
    },
    flush: async () => {
      if (touches.size === 0) return
      const batch = [...touches.values()]
      touches = new Map()
      await writeTouches(db, batch)
    },
  }
}

/** A token is one of many under its grant, so it is the grant that was used. */
function usedBy({ id, grant_id }: Caller): { action: string; type: string; id: string } {
  if (grant_id !== undefined) return { action: 'oauth.used', type: 'grant', id: grant_id }
  return { action: 'api_key.used', type: 'api_key', id }
}

async function writeTouches(tx: Tx, touches: readonly KeyTouch[]): Promise<void> {
  const isGrant = ({ key_id }: KeyTouch) => key_id.startsWith('grant_')
  const grants = touches.filter(isGrant).map(({ key_id, ip, at }) => ({ id: key_id, ip, at }))
  const keys = touches.filter((touch) => !isGrant(touch))
  if (keys.length > 0) await touchApiKeys(tx, keys)
  if (grants.length > 0) await touchGrants(tx, grants)
}
