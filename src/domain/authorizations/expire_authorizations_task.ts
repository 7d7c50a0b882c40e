import type { Database, Tx } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Engine } from './engine.ts'
import type { CardRequest } from './request.ts'

const EVERY_MS = 10_000
const BATCH_MAX = 1_000
/** A message that has not arrived a week after its reversal will not arrive. */
const EARLY_REVERSAL_MS = 7 * 24 * 3_600_000

type OpenAuthorization = { account_id: string; id: string; pan_hash: string }

type ExpiryDependencies = { db: Database; clock: Clock; engine: Engine }

/**
 * Releases holds that were not captured within seven days. Expiries go through the engine like
 * network messages, so a concurrent capture comes either before or after.
 */
export function expireAuthorizationsTask({ db, clock, engine }: ExpiryDependencies): Task {
  return {
    name: 'expire_authorizations',
    every_ms: EVERY_MS,
    run: async () => {
      const now = clock.now()
      await deleteEarlyReversals(db, new Date(now.getTime() - EARLY_REVERSAL_MS))
      for (;;) {
        const due = await findDue(db, now)
        await Promise.all(
          due.map((open) => engine.submit(expiryOf(open, { now, is_early: false }))),
        )
        if (due.length < BATCH_MAX) return
      }
    },
  }
}

/** Expires one authorization before its time; the sandbox uses it. */
export async function expireAuthorization(
  { db, clock, engine }: ExpiryDependencies,
  account_id: string,
  id: string,
): Promise<void> {
  const [open] = await db.rows<OpenAuthorization>(`${OPEN} where t.account_id = $1 and t.id = $2`, [
    account_id,
    id,
  ])
  if (open !== undefined) await engine.submit(expiryOf(open, { now: clock.now(), is_early: true }))
}

const OPEN = `select t.account_id, t.id, c.pan_hash
  from transactions t join cards c on c.account_id = t.account_id and c.id = t.card_id`

function findDue(tx: Tx, now: Date): Promise<OpenAuthorization[]> {
  return tx.rows<OpenAuthorization>(
    `${OPEN} where t.open_micros > 0 and t.expires_at <= $1 order by t.expires_at limit $2`,
    [now, BATCH_MAX],
  )
}

async function deleteEarlyReversals(tx: Tx, before: Date): Promise<void> {
  await tx.run('delete from early_reversals where created_at < $1', [before])
}

/** An internal request: there is no message to store. */
function expiryOf(
  { id, pan_hash }: OpenAuthorization,
  { now, is_early }: { now: Date; is_early: boolean },
): CardRequest {
  return {
    kind: 'expire',
    link: 'florin',
    identity: `expiry|${id}`,
    fingerprint: '',
    pan_hash,
    charge: { minor: 0n, currency: null, micros: null, fx_rate: null },
    merchant: NO_MERCHANT,
    entry: { entry_mode: 'keyed', card_present: false, wallet: null },
    expiry: null,
    isCodeRight: null,
    has_pin: false,
    is_type_supported: true,
    is_partial_ok: false,
    challenge_id: null,
    reference: {
      transaction_id: id,
      original_identity: null,
      original_prefix: null,
      retrieval_reference_number: null,
      authorization_code: null,
    },
    replacement_minor: null,
    is_final: false,
    is_early,
    network_transaction_id: null,
    settles: null,
    received_at: now,
    deadline_ms: Number.POSITIVE_INFINITY,
    message: null,
    answer: () => NO_RESPONSE,
    restore: (kept_bytes) => kept_bytes,
  }
}

const NO_RESPONSE = {
  mti: '',
  fields: {},
  response_code: '',
  bytes: new Uint8Array(),
  kept_bytes: new Uint8Array(),
}

const NO_MERCHANT = {
  merchant_name: '',
  mcc: '',
  merchant_city: null,
  merchant_country: null,
  merchant_id: null,
  terminal_id: null,
}
