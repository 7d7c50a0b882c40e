import type { Database } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import { forEachAlone } from '#platform/runtime/for_each_alone.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Engine } from './engine.ts'
import { findPriced, markSettled, type PricedRow } from './pending_clearing_store.ts'
import type { CardRequest } from './request.ts'

const EVERY_MS = 1_000
const IDLE_MS = 5_000

type ClearingDependencies = { db: Database; clock: Clock; engine: Engine }

/**
 * Books clearings that an operator has converted or approved, as their messages would have been
 * booked. Each has an identity of its own, so a crash between booking and mark books nothing twice.
 */
export function settleClearingsTask({ db, clock, engine }: ClearingDependencies): Task {
  return {
    name: 'settle_clearings',
    every_ms: EVERY_MS,
    idle_ms: IDLE_MS,
    run: async () => {
      const book = async (row: PricedRow) => {
        const request = requestOf(row)
        await engine.submit(request)
        await markSettled(db, row, { now: clock.now(), identity: request.identity })
      }
      await forEachAlone(await findPriced(db), (row) =>
        book(row).catch((cause: unknown) => {
          throw new Error(`The clearing ${row.id} could not be booked.`, { cause })
        }),
      )
    },
  }
}

function requestOf(row: PricedRow): CardRequest {
  const { request, mti, raw, fields, received_at } = row
  const { fx_rate, ...kept } = request
  return {
    ...kept,
    identity: `priced|${row.id}`,
    settles: row.message_identity,
    pan_hash: row.pan_hash,
    charge: {
      minor: row.amount_minor,
      currency: row.currency,
      micros: row.amount_micros,
      fx_rate,
    },
    expiry: null,
    isCodeRight: null,
    has_pin: false,
    is_type_supported: true,
    is_partial_ok: false,
    challenge_id: null,
    replacement_minor: null,
    is_early: false,
    received_at,
    deadline_ms: Number.POSITIVE_INFINITY,
    message: { mti, raw, fields },
    // The network got this response when the message arrived.
    answer: () => ({
      mti: row.response_mti,
      fields: row.response_fields,
      response_code: row.response_code,
      bytes: row.answer,
      kept_bytes: row.answer,
    }),
    restore: (kept_bytes) => kept_bytes,
  }
}
