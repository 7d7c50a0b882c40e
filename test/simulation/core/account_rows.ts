import type { PendingClearing } from '#domain/authorizations/batch_state.ts'
import type { ChallengeState } from '#domain/authorizations/card_state.ts'
import type { RefundPart } from '#domain/authorizations/refund_state.ts'
import type { CardRow } from '#domain/cards/card.ts'
import type { DisputeRow } from '#domain/disputes/dispute.ts'
import type { PurseRow } from '#domain/ledger/ledger_store.ts'
import { type Purse, storedKind } from '#domain/ledger/purse.ts'
import type { TransferRow } from '#domain/topups/deposits.ts'
import type { TopupRow } from '#domain/topups/topup.ts'
import type { TransactionRow } from '#domain/transactions/transaction.ts'

/** The rows of one account that a database would have. */
export type AccountRows = {
  id: string
  is_suspended: boolean
  purses: PurseRow[]
  cards: Map<string, CoreCard>
  transactions: TransactionRow[]
  refund_parts: RefundPart[]
  pending_clearings: Map<string, PendingClearing>
  challenges: Map<string, ChallengeState>
  disputes: Map<string, DisputeRow>
  topups: Map<string, CoreTopup>
  withdrawals: Map<string, CoreWithdrawal>
}

export type CoreCard = CardRow & { pan_hash: string; failed_at: Date[] }

export type CoreTopup = { row: TopupRow; finals: TransferRow[] }

export type CoreWithdrawal = {
  amount_micros: bigint
  status: 'pending' | 'broadcasted' | 'completed' | 'failed'
  created_at: Date
}

export const newAccountRows = (id: string): AccountRows => ({
  id,
  is_suspended: false,
  purses: [],
  cards: new Map(),
  transactions: [],
  refund_parts: [],
  pending_clearings: new Map(),
  challenges: new Map(),
  disputes: new Map(),
  topups: new Map(),
  withdrawals: new Map(),
})

export function findPurse({ purses }: AccountRows, { kind, owner_id }: Purse): PurseRow | null {
  const stored = storedKind(kind)
  return purses.find((purse) => purse.kind === stored && purse.owner_id === owner_id) ?? null
}

/** As locking does: a purse that was never used is created. */
export function lockPurse(rows: AccountRows, purse: Purse): PurseRow {
  const known = findPurse(rows, purse)
  if (known !== null) return known
  const created: PurseRow = {
    account_id: rows.id,
    kind: storedKind(purse.kind) as PurseRow['kind'],
    owner_id: purse.owner_id,
    balance_micros: 0n,
    held_micros: 0n,
    read_micros: 0n,
    moved_at: null,
    is_changed: false,
    holds_expire_at: null,
    spent_day: null,
    day_spent_micros: 0n,
    month_spent_micros: 0n,
  }
  rows.purses.push(created)
  return created
}

/** Stores the purses of a posting. */
export function storePurses(rows: AccountRows, changed: readonly PurseRow[]): void {
  for (const purse of changed) {
    if (!purse.is_changed || purse.account_id !== rows.id) continue
    const stored = lockPurse(rows, purse as Purse)
    Object.assign(stored, purse, { is_changed: false, read_micros: purse.balance_micros })
  }
}

export function newCoreCard(
  account_id: string,
  { name, now, ...fields }: Partial<CardRow> & { name: string; now: Date },
): CoreCard {
  return {
    account_id,
    client_id: null,
    id: `card_${account_id}_${name}`,
    bin: '400000',
    last4: '1234',
    brand: 'visa',
    type: 'virtual',
    status: 'active',
    exp_month: 12,
    exp_year: 2099,
    wallet: { apple_pay: 'unsupported', google_pay: 'unsupported' },
    per_transaction_micros: null,
    daily_micros: null,
    monthly_micros: null,
    mcc_allow: null,
    mcc_deny: null,
    geo_allow: null,
    geo_deny: null,
    usage: 'reusable',
    merchant_lock_name: null,
    merchant_lock_id: null,
    valid_until: null,
    shipping: null,
    replaces: null,
    replaced_by: null,
    frozen_by: null,
    cancel_reason: null,
    frozen_at: null,
    cancelled_at: null,
    metadata: {},
    version: 1n,
    created_at: now,
    updated_at: now,
    ...fields,
    name,
    pan_hash: `${account_id}/${name}`,
    failed_at: [],
  }
}
