import type { PanReveal } from '#contract/cards.ts'
import { fieldProblem } from '#contract/common_problems.ts'
import { Problem } from '#contract/problem.ts'
import type { Handler, PreparingContext } from '#domain/context/context.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type CardRow, cardResource, requireNotCancelled } from './card.ts'
import { lockCardOf } from './card_store.ts'
import { findRevealQuota, findSealedPan, insertReveal, type RevealQuota } from './pan_store.ts'
import { cvvOf, openPan } from './pan_vault.ts'

/**
 * The reveal is counted and audited in its own transaction, and the number is decrypted only after
 * that commit. A crash in between costs the holder a reveal but never loses an audit entry.
 */
export const revealPan: Handler<'reveal_pan'> = {
  prepare: async (context, { id }) => {
    const nonce = parseNonce(context.request.header('reveal-nonce'))
    const granted = await context.db.transaction((tx) => consumeReveal(context, tx, { id, nonce }))
    return async ({ tx, keys }) => {
      const { card } = granted
      const pan = openPan(keys, card.id, await findSealedPan(tx, card)).open()
      return panRevealView(granted, { pan, cvv: cvvOf(keys, card, pan).open() })
    }
  },
}

type GrantedReveal = { card: CardRow; reveal_id: string; now: Date }

/** Locks the card, so concurrent requests cannot exceed the quota. */
async function consumeReveal(
  { caller, now, auditIn }: PreparingContext,
  tx: Tx,
  { id, nonce }: { id: string; nonce: string | null },
): Promise<GrantedReveal> {
  const card = await lockCardOf(tx, caller.account_id, id)
  requireNotCancelled(card)
  const since = new Date(now.getTime() - WINDOW_MS)
  requireRevealAllowed(await findRevealQuota(tx, card, since), { nonce, now })
  const entry = { action: 'card.pan_revealed', resource: cardResource(card) }
  const reveal_id = await auditIn(tx, card.account_id, entry)
  if (!(await insertReveal(tx, { id: reveal_id, card, nonce, now }))) throw nonceUsed()
  return { card, reveal_id, now }
}

const REVEALS_MAX = 5
const WINDOW_MS = 60 * 60_000

/** One reveal per card; each further one needs a new nonce and counts against the hourly limit. */
function requireRevealAllowed(
  quota: RevealQuota,
  { nonce, now }: { nonce: string | null; now: Date },
): void {
  if (nonce === null && quota.count > 0) {
    throw new Problem(
      'reveal_already_used',
      'This card number was already revealed. Send a new Reveal-Nonce to see it again.',
    )
  }
  if (quota.recent_count < REVEALS_MAX) return
  const free_at = (quota.oldest_recent_at ?? now).getTime() + WINDOW_MS
  throw new Problem(
    'reveal_limit_exceeded',
    `A card number can be revealed at most ${REVEALS_MAX} times an hour.`,
    { retry_after_s: Math.max(1, Math.ceil((free_at - now.getTime()) / 1_000)) },
  )
}

const nonceUsed = () =>
  new Problem('reveal_already_used', 'This Reveal-Nonce was already used. Send a new one.')

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function parseNonce(header: string | null): string | null {
  if (header === null) return null
  const nonce = header.toLowerCase()
  if (UUID.test(nonce)) return nonce
  throw fieldProblem('invalid_request', 'Reveal-Nonce', 'must be a UUID')
}

function panRevealView(
  { card, reveal_id, now }: GrantedReveal,
  { pan, cvv }: { pan: string; cvv: string },
): PanReveal {
  const month = String(card.exp_month).padStart(2, '0')
  const year = String(card.exp_year % 100).padStart(2, '0')
  return {
    card_id: card.id,
    pan,
    cvv,
    exp_month: card.exp_month,
    exp_year: card.exp_year,
    expiry: `${month}/${year}`,
    reveal_id,
    revealed_at: now.toISOString(),
  }
}
