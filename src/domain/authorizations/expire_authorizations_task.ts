import type { Dependencies } from '#domain/context/context.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Engine } from './engine.ts'
import type { CardRequest } from './request.ts'

const EVERY_MS = 10_000
const PASS_MAX = 1_000
/** Reversals of messages that have not come within a week will not meet them any more. */
const EARLY_REVERSAL_MS = 7 * 24 * 3_600_000

type Open = { account_id: string; id: string; pan_hash: string }

type Tools = Pick<Dependencies, 'db' | 'clock'> & { engine: Engine }

/**
 * Gives back what nobody has captured in time. It goes through the same lane as the messages of
 * the network, so that a capture that comes at the same moment is before it or after it.
 */
export function expireAuthorizationsTask(tools: Tools): Task {
  return {
    name: 'expire_authorizations',
    every_ms: EVERY_MS,
    run: async () => {
      const now = tools.clock.now()
      await sweepEarlyReversals(tools.db, new Date(now.getTime() - EARLY_REVERSAL_MS))
      for (;;) {
        const due = await findDue(tools.db, now)
        await Promise.all(due.map((open) => tools.engine.submit(expiryOf(open, now))))
        if (due.length < PASS_MAX) return
      }
    },
  }
}

/** One authorization, before its time. */
export async function expireAuthorization(
  { db, clock, engine }: Tools,
  account_id: string,
  id: string,
): Promise<void> {
  const [open] = await db.rows<Open>(`${OPEN} where t.account_id = $1 and t.id = $2`, [
    account_id,
    id,
  ])
  if (open !== undefined) await engine.submit(expiryOf(open, clock.now()))
}

const OPEN = `select t.account_id, t.id, c.pan_hash
  from transactions t join cards c on c.account_id = t.account_id and c.id = t.card_id`

function findDue(tx: Tx, now: Date): Promise<Open[]> {
  return tx.rows<Open>(
    `${OPEN} where t.open_micros > 0 and t.expires_at <= $1 order by t.expires_at limit $2`,
    [now, PASS_MAX],
  )
}

async function sweepEarlyReversals(tx: Tx, before: Date): Promise<void> {
  await tx.run('delete from early_reversals where created_at < $1', [before])
}

/** Our own word: no message came, and none is kept. */
function expiryOf({ id, pan_hash }: Open, now: Date): CardRequest {
  return {
    kind: 'expire',
    link: 'florin',
    identity: `expiry|${id}`,
    fingerprint: '',
    pan_hash,
    charge: { minor: 0n, currency: null, micros: null, fx_rate: null },
    merchant: NOBODY,
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
      retrieval_reference_number: null,
      authorization_code: null,
    },
    replacement_minor: null,
    is_final: false,
    network_transaction_id: null,
    settles: null,
    received_at: now,
    message: null,
    answer: () => NO_ANSWER,
    restore: (kept_bytes) => kept_bytes,
  }
}

const NO_ANSWER = {
  mti: '',
  fields: {},
  response_code: '',
  bytes: new Uint8Array(),
  kept_bytes: new Uint8Array(),
}

const NOBODY = {
  merchant_name: '',
  mcc: '',
  merchant_city: null,
  merchant_country: null,
  merchant_id: null,
  terminal_id: null,
}
