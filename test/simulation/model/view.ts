import type { Micros } from './amounts.ts'
import { usedOf } from './budgets.ts'
import type { Account, Card, Dispute, Row, Withdrawal } from './state.ts'
import { creditedOf, paymentState, receivedOf, topupStatus } from './treasury.ts'
import { spentOn } from './usage.ts'

export type CardView = Pick<Card, 'status' | 'balance' | 'held' | 'is_used'> & {
  lock: string | null
  spent_daily: Micros
  spent_monthly: Micros
}
type RowView = Pick<
  Row,
  | 'type'
  | 'status'
  | 'amount'
  | 'open'
  | 'held'
  | 'captured'
  | 'refunded'
  | 'decline_code'
  | 'three_ds'
>
type TopupView = {
  status: string
  reason: string | null
  payment_state: string
  received: Micros
  credited: Micros
}

/** Everything a read of the account must show. */
export type AccountView = {
  balance: Micros
  owed: Micros
  /** Balances and holds of all cards, and withdrawals that have not arrived. */
  cards_total: Micros
  pending_out: Micros
  cards: Record<string, CardView>
  /** By message; a single-message purchase has its capture under `<message>|capture`. */
  rows: Record<string, RowView>
  topups: Record<string, TopupView>
  withdrawals: Record<string, Pick<Withdrawal, 'status' | 'amount' | 'fee'>>
  disputes: Record<string, Pick<Dispute, 'status' | 'outcome' | 'closed_by' | 'amount' | 'credit'>>
  /** What apps have used of their budgets. */
  agents: Record<string, { used: Micros }>
}

export function viewOf(account: Account, now: number): AccountView {
  const cards = [...account.cards.values()]
  const pending = [...account.withdrawals.values()].filter(
    ({ status }) => status === 'pending' || status === 'broadcasted',
  )
  return {
    balance: account.balance,
    owed: account.owed,
    cards_total: cards.reduce((sum, { balance, held }) => sum + balance + held, 0n),
    pending_out: pending.reduce((sum, { amount }) => sum + amount, 0n),
    cards: Object.fromEntries(cards.map((card) => [card.name, cardView(card, now)])),
    rows: Object.fromEntries(account.rows.map((row) => [rowKey(row), rowView(row)])),
    topups: Object.fromEntries(
      [...account.topups].map(([name, topup]) => [
        name,
        {
          status: topupStatus(topup),
          reason: topupStatus(topup) === 'confirming' ? null : topup.reason,
          payment_state: paymentState(topup),
          received: receivedOf(topup),
          credited: creditedOf(topup),
        },
      ]),
    ),
    withdrawals: Object.fromEntries(
      [...account.withdrawals].map(([name, { status, amount, fee }]) => [
        name,
        { status, amount, fee },
      ]),
    ),
    disputes: Object.fromEntries(
      [...account.disputes].map(([name, { capture, ...fields }]) => [name, fields]),
    ),
    agents: Object.fromEntries(
      [...account.agents].map(([name, agent]) => [name, { used: usedOf(agent, now) }]),
    ),
  }
}

export function cardView(card: Card, now: number): CardView {
  const { status, balance, held, usage, is_used } = card
  const { daily, monthly } = spentOn(usage, now)
  const lock = card.lock?.name ?? null
  return { status, balance, held, is_used, lock, spent_daily: daily, spent_monthly: monthly }
}

const rowKey = ({ message, type, authorization }: Row): string =>
  type === 'capture' && authorization?.message === message ? `${message}|capture` : message

function rowView(row: Row): RowView {
  const { type, status, amount, open, held, captured, refunded, decline_code, three_ds } = row
  return { type, status, amount, open, held, captured, refunded, decline_code, three_ds }
}
