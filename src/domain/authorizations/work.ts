import type { SpendingWindow } from '#domain/cards/limits.ts'
import type { NewEvent } from '#domain/context/context.ts'
import type { Posting } from '#domain/ledger/post.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'
import type { IdPrefix } from '#kernel/id.ts'
import type { Micros } from '#kernel/money.ts'
import type { CardFacts, ChallengeFacts } from './facts.ts'
import type { Purchases } from './purchases.ts'
import type { RefundState } from './refund_state.ts'
import type { CardRequest } from './request.ts'

/**
 * One batch under way: what was locked and looked up, and what its decisions have come to so far.
 * Each decision reads what the ones before it wrote here; all of it is committed at once.
 */
export type Work = {
  now: Date
  window: SpendingWindow
  expires_at: Date
  newId(prefix: IdPrefix): string
  newAuthorizationCode(): string
  posting: Posting
  cards: ReadonlyMap<string, CardFacts>
  is_paused: boolean
  partial_approvals: boolean
  /** Refunds that give back so much more than their purchase took wait for a person; null: none. */
  refund_review_micros: Micros | null
  /** Identities whose reversal came first. */
  early_reversals: Set<string>
  challenges: ReadonlyMap<string, ChallengeFacts>
  purchases: Purchases
  made: TransactionRow[]
  /** Rows that were there before, and how often each was changed. */
  changed: Map<TransactionRow, bigint>
  events: { account_id: string; event: NewEvent }[]
  new_early_reversals: Set<string>
  failed_cards: Set<CardFacts>
  used_challenges: ChallengeFacts[]
  unpriced: Unpriced[]
  refunds: RefundState
}

/** A fact whose dollars nobody knows yet, or a refund that a person has to approve. */
export type Unpriced = {
  id: string
  card: CardFacts
  request: CardRequest
  waits_for: 'dollars' | 'review'
}

/** A change to a row that was there before; one of this batch is written as it has become. */
export function change(work: Work, row: TransactionRow, to: Partial<TransactionRow>): void {
  Object.assign(row, to)
  row.updated_at = work.now
  row.version += 1n
  if (row.created_at !== work.now) work.changed.set(row, (work.changed.get(row) ?? 0n) + 1n)
}
