import { type CardKey, lockFreeCards } from '#domain/cards/lock_cards.ts'
import {
  type ExpiringCard,
  findExpiringCards,
  setHoldsExpireAt,
} from '#domain/ledger/hold_expiry_store.ts'
import { texts } from '#platform/postgres/columns.ts'
import type { Database, Tx } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Engine } from './engine.ts'
import type { CardRequest } from './request.ts'

const EVERY_MS = 10_000
const CARDS_MAX = 200
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
      const failures: unknown[] = []
      let last: ExpiringCard | undefined
      do {
        const cards = await findExpiringCards(db, now, { after: last, limit: CARDS_MAX })
        failures.push(...(await expireDue({ db, engine }, cards, now)))
        await moveExpiriesOn(db, cards)
        last = cards[CARDS_MAX - 1]
      } while (last !== undefined)
      if (failures.length > 0) throw new AggregateError(failures, 'some holds did not expire')
    },
  }
}

/** Expires one authorization before its time; the sandbox uses it. */
export async function expireAuthorization(
  { db, clock, engine }: ExpiryDependencies,
  account_id: string,
  id: string,
): Promise<void> {
  const [open] = await db.rows<OpenAuthorization>(
    `select t.account_id, t.id, c.pan_hash
       from transactions t join cards c on c.account_id = t.account_id and c.id = t.card_id
      where t.account_id = $1 and t.id = $2`,
    [account_id, id],
  )
  if (open !== undefined) await engine.submit(expiryOf(open, { now: clock.now(), is_early: true }))
}

/** Returns why some could not be expired: those are tried again by the next run. */
async function expireDue(
  { db, engine }: Pick<ExpiryDependencies, 'db' | 'engine'>,
  cards: readonly CardKey[],
  now: Date,
): Promise<unknown[]> {
  const due = await findDue(db, cards, now)
  const expired = await Promise.allSettled(
    due.map((open) => engine.submit(expiryOf(open, { now, is_early: false }))),
  )
  return expired.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
}

function findDue(tx: Tx, cards: readonly CardKey[], now: Date): Promise<OpenAuthorization[]> {
  return tx.rows<OpenAuthorization>(
    `select w.account_id, t.id, c.pan_hash
       from unnest($1::text[], $2::text[]) as w (account_id, card_id)
       join cards c on c.account_id = w.account_id and c.id = w.card_id
      cross join lateral (
              select id from transactions
               where card_id = w.card_id and open_micros > 0 and expires_at <= $3
              offset 0) t`,
    [...keyColumns(cards), now],
  )
}

/**
 * Notes when the next hold of each card expires. Its card is locked first, so that no message opens
 * one meanwhile; a card that is locked by another transaction is left for the next run.
 */
async function moveExpiriesOn(db: Database, cards: readonly CardKey[]): Promise<void> {
  if (cards.length === 0) return
  await db.transaction(async (tx) => {
    const free = await lockFreeCards(tx, cards)
    if (free.length > 0) await setHoldsExpireAt(tx, await findFirstExpiries(tx, free))
  })
}

/** A later statement than the lock, so it sees what was committed before the lock was free. */
function findFirstExpiries(tx: Tx, cards: readonly CardKey[]) {
  return tx.rows<CardKey & { expires_at: Date | null }>(
    `select w.account_id, w.card_id, t.expires_at
       from unnest($1::text[], $2::text[]) as w (account_id, card_id)
      cross join lateral (
              select min(expires_at) as expires_at from transactions
               where card_id = w.card_id and open_micros > 0
              offset 0) t`,
    keyColumns(cards),
  )
}

const keyColumns = (cards: readonly CardKey[]) => [
  texts(cards, ({ account_id }) => account_id),
  texts(cards, ({ card_id }) => card_id),
]

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
