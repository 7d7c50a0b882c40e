import type { Caller, RequestFacts, Seams } from '#platform/context.ts'
import { recordAudit } from './audit.ts'
import { auditFactsOf } from './audit_facts.ts'
import { insertKeyUse, type KeyTouch, touchApiKeys } from './credential_store.ts'

/**
 * When and from where keys are used. The first use of a key from an address on a day is an audit
 * entry and is written before the answer; later ones only move last_used_at, gathered and written
 * together by a task, so that a busy key costs no write per call.
 */
export type KeyUses = {
  note(caller: Caller, request: RequestFacts, operation: string): Promise<void>
  flush(): Promise<void>
}

const SEEN_MAX = 50_000

type Needs = Pick<Seams, 'db' | 'clock' | 'newId'>

export function makeKeyUses({ db, clock, newId }: Needs): KeyUses {
  const seen = new Set<string>()
  let touches = new Map<string, KeyTouch>()
  return {
    note: async (caller, request, operation) => {
      const at = clock.now()
      const day = at.toISOString().slice(0, 10)
      const touch = { account_id: caller.account_id, key_id: caller.id, ip: request.ip, at }
      const use = `${caller.id}|${request.ip}|${day}`
      if (seen.has(use)) {
        touches.set(caller.id, touch)
        return
      }
      await db.transaction(async (tx) => {
        await touchApiKeys(tx, [touch])
        if (!(await insertKeyUse(tx, { ...touch, day }))) return
        const resource = { type: 'api_key', id: caller.id }
        await recordAudit(
          tx,
          caller.account_id,
          [{ action: 'api_key.used', resource }],
          auditFactsOf({ caller, request, operation, clock, newId }),
        )
      })
      if (seen.size >= SEEN_MAX) seen.clear()
      seen.add(use)
    },
    flush: async () => {
      if (touches.size === 0) return
      const batch = [...touches.values()]
      touches = new Map()
      await touchApiKeys(db, batch)
    },
  }
}
