import type { BalancePoint } from '#contract/balance.ts'
import type { StatementKind } from '#contract/statements.ts'
import type { Resource } from '#domain/context/context.ts'
import type { Micros } from '#kernel/money.ts'
import type { Purse, PurseKind } from './purse.ts'

type Movement = {
  from: PurseKind
  to: PurseKind
  /** Its type in the balance history; set if it touches the treasury. */
  history?: BalancePoint['type']
  /** Its kind on a statement; set if money enters or leaves treasury and cards. */
  statement?: StatementKind
}

/**
 * All movements of money, each with the kinds of purse it goes from and to. A movement that is not
 * listed here cannot happen.
 */
export const movements = {
  topup_settled: { from: 'chain', to: 'treasury', history: 'topup', statement: 'deposits' },
  topup_suspended: { from: 'chain', to: 'suspense' },
  suspense_released: { from: 'suspense', to: 'treasury', history: 'topup', statement: 'deposits' },
  suspense_refunded: { from: 'suspense', to: 'chain' },

  withdrawal_reserved: {
    from: 'treasury',
    to: 'payout',
    history: 'withdrawal',
    statement: 'withdrawals',
  },
  withdrawal_sent: { from: 'payout', to: 'chain' },
  withdrawal_fee_taken: { from: 'payout', to: 'fees' },
  withdrawal_returned: {
    from: 'payout',
    to: 'treasury',
    history: 'withdrawal_reversal',
    statement: 'withdrawals',
  },

  card_loaded: { from: 'treasury', to: 'card', history: 'load' },
  card_unloaded: { from: 'card', to: 'treasury', history: 'unload' },
  card_replaced: { from: 'card', to: 'card' },

  spend_held: { from: 'card', to: 'hold' },
  hold_released: { from: 'hold', to: 'card' },
  hold_returned: { from: 'hold', to: 'treasury', history: 'unload' },
  hold_captured: { from: 'hold', to: 'network', statement: 'spent' },
  spend_taken: { from: 'card', to: 'network', statement: 'spent' },
  spend_owed: { from: 'receivable', to: 'network' },
  spend_refunded: { from: 'network', to: 'card', statement: 'refunds' },
  refund_returned: { from: 'network', to: 'treasury', history: 'refund', statement: 'refunds' },
  debt_paid_by_card: { from: 'card', to: 'receivable', statement: 'other' },
  debt_paid_by_treasury: {
    from: 'treasury',
    to: 'receivable',
    history: 'adjustment',
    statement: 'other',
  },

  dispute_credited: {
    from: 'operator',
    to: 'treasury',
    history: 'dispute_credit',
    statement: 'disputes',
  },
  dispute_reversed: {
    from: 'treasury',
    to: 'operator',
    history: 'dispute_reversal',
    statement: 'disputes',
  },
  dispute_owed: { from: 'receivable', to: 'operator' },

  call_paid: { from: 'payers', to: 'prepaid' },
  call_earned: { from: 'prepaid', to: 'fees' },
  call_credited: { from: 'prepaid', to: 'treasury', history: 'refund', statement: 'refunds' },
  call_refunded: { from: 'prepaid', to: 'payers' },
  relayer_fee_paid: { from: 'fees', to: 'gas' },

  adjusted_up: { from: 'operator', to: 'treasury', history: 'adjustment', statement: 'other' },
  adjusted_down: { from: 'treasury', to: 'operator', history: 'adjustment', statement: 'other' },
} as const satisfies Record<string, Movement>

export type MovementName = keyof typeof movements

/** Money between two purses of one account, or one of its purses and an external purse. */
export type Move = {
  movement: MovementName
  account_id: string
  from: Purse
  to: Purse
  amount_micros: Micros
  reference: Resource
  description: string
}

export function historyTypeOf(name: MovementName): BalancePoint['type'] {
  const movement: Movement = movements[name]
  return movement.history ?? 'adjustment'
}

/** The movements that a history filter selects. */
export function movementsOfHistory(types: readonly string[]): MovementName[] {
  return (Object.keys(movements) as MovementName[]).filter((name) => {
    const { history }: Movement = movements[name]
    return history !== undefined && types.includes(history)
  })
}

/** Purses whose sum a statement shows: get_balance calls it `total_usd`. */
const STATEMENT_PURSES: readonly PurseKind[] = ['treasury', 'card', 'hold']

/** A movement's kind on a statement, and whether its money leaves the account. */
export function statementSideOf(name: MovementName): { kind: StatementKind; isDebit: boolean } {
  const { statement, from }: Movement = movements[name]
  return { kind: statement ?? 'other', isDebit: STATEMENT_PURSES.includes(from) }
}
