import type { Account } from '#contract/accounts.ts'

/** Responses of the operator API, with the fields that the console uses. */

/** Operator responses name the account that a row belongs to. */
export type OfAccount = { account_id: string; account_email: string }

/** Operator responses add the owner to the resources of the public API. */
export type WithAccount<Resource> = Resource & OfAccount

export type OperatorAccount = Account & {
  rate_profile: string | null
  own_limits: Record<string, number>
  spend_limits: Record<string, number>
}

export type HeldDeposit = OfAccount & {
  id: string
  from_address: string
  amount_usd: number
  reason: string
  created_at: string
}

/** A foreign-currency clearing that the network sent without a USD amount. */
export type PendingConversion = OfAccount & {
  id: string
  card_id: string
  kind: 'advise' | 'capture' | 'refund'
  amount: number
  /** "???" if the currency code is unknown. */
  currency: string
  merchant_name: string
  amount_usd: number | null
  created_at: string
}

export type HeldRefund = OfAccount & {
  id: string
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
  proven_at: string | null
  violations: {
    proof: string
    account_id: string | null
    object_id: string
    sentence: string
    first_seen_at: string
  }[]
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
