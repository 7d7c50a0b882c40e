import type { Account } from '#contract/accounts.ts'

/** What the operator's surface answers, as far as the console shows it. */

/** A thing of an account, with whose it is. */
export type WithAccountId<Thing> = Thing & { account_id: string }

export type OperatorAccount = Account & {
  rate_profile: string | null
  own_limits: Record<string, number>
  spend_limits: Record<string, number>
}

export type HeldDeposit = {
  id: string
  account_id: string
  from_address: string
  amount_usd: number
  reason: string
  created_at: string
}

/** A clearing in a foreign currency whose dollars the network did not say. */
export type PendingConversion = {
  id: string
  account_id: string
  card_id: string
  kind: 'advise' | 'capture' | 'refund'
  amount: number
  /** ??? where nobody knows it. */
  currency: string
  merchant_name: string
  amount_usd: number | null
  created_at: string
}

export type HeldRefund = {
  id: string
  account_id: string
  card_id: string
  status: 'waiting' | 'approved' | 'refused'
  amount: number
  currency: string
  amount_usd: number
  merchant_name: string
  created_at: string
}

export type ReconciliationReport = {
  checked_at: string
  violations: { proof: string }[]
  chains: {
    chain: string
    asset: string
    ledger_usd: number
    in_flight_usd: number
    float_usd: number
    on_chain_usd: number | null
    difference_usd: number | null
    is_short: boolean
    fault: string | null
  }[]
  network: {
    network: string
    ledger_usd: number
    transactions_usd: number
    difference_usd: number
  }[]
}

export type Day = {
  day: string
  accounts_opened: number
  deposited_usd: number
  withdrawn_usd: number
  approved: number
  declined: number
  approval_rate: number | null
  decline_reasons: Record<string, number>
  captured_usd: number
  refunded_usd: number
  disputes_opened: number
}

export type ProgramOverview = {
  totals: {
    accounts: number
    accounts_suspended: number
    cards_active: number
    treasuries_usd: number
    cards_usd: number
    owed_usd: number
  }
  days: Day[]
}
