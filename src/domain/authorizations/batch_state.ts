import type { CardRow } from '#domain/cards/card.ts'
import type { SpendingWindow } from '#domain/cards/limits.ts'
import type { NewEvent } from '#domain/context/context.ts'
import type { Posting } from '#domain/ledger/post.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import type { IdPrefix } from '#kernel/id.ts'
import type { Micros } from '#kernel/money.ts'
import type { CardState, ChallengeState } from './card_state.ts'
import type { Purchases } from './purchases.ts'
import type { RefundState } from './refund_state.ts'
import type { CardRequest } from './request.ts'

/**
 * A batch in progress: the locked and loaded rows, and the results of its decisions so far. Each
 * decision reads the results of those before it; everything is committed in one transaction.
 */
export type BatchState = {
  now: Date
  window: SpendingWindow
  expires_at: Date
  newId(prefix: IdPrefix, at?: Date): string
  newAuthorizationCode(): string
  posting: Posting
  cards: ReadonlyMap<string, CardState>
  is_paused: boolean
  partial_approvals: boolean
  /** Refunds that exceed their purchase by this much wait for an operator; null: none do. */
  refund_review_micros: Micros | null
  /** Identities of messages that have a response. */
  answered: Set<string>
  /** Identities of messages whose reversal arrived first. */
  early_reversals: Set<string>
  challenges: ReadonlyMap<string, ChallengeState>
  purchases: Purchases
  made: TransactionRow[]
  /** Those of them that have a later timestamp than the batch. */
  made_later: Set<TransactionRow>
  /** Existing rows with the number of changes to each. */
  changed: Map<TransactionRow, bigint>
  events: { account_id: string; event: NewEvent }[]
  new_early_reversals: Set<string>
  failed_cards: Set<CardState>
  used_challenges: ChallengeState[]
  pending_clearings: PendingClearing[]
  refunds: RefundState
  /** Complete rows of the single-use cards that can still be used, by id. */
  single_use_cards: ReadonlyMap<string, CardRow>
  /** Single-use cards after their purchase. */
  used_cards: CardRow[]
  /** Cards that got their merchant lock. */
  locked_cards: CardState[]
}

export type RequestOnCard = { card: CardState; request: CardRequest }

/** A clearing that awaits conversion to USD, or a refund that awaits an operator's approval. */
export type PendingClearing = {
  id: string
  card: CardState
  request: CardRequest
  waits_for: 'conversion' | 'review'
}

/** Changes a row. Rows made in this batch are inserted in their final form. */
export function change(state: BatchState, row: TransactionRow, to: Partial<TransactionRow>): void {
  Object.assign(row, to)
  row.updated_at = state.now
  row.version += 1n
  const isMade = row.created_at === state.now || state.made_later.has(row)
  if (!isMade) state.changed.set(row, (state.changed.get(row) ?? 0n) + 1n)
}
