import { humanize } from '#panel/ui/badge.tsx'

const names: Readonly<Record<string, string>> = {
  deposit_min_usd: 'Minimum deposit',
  topup_min_usd: 'Minimum top-up',
  topup_max_usd: 'Maximum top-up',
  load_min_usd: 'Minimum load',
  load_max_usd: 'Maximum load',
  card_balance_max_usd: 'Maximum card balance',
  cards_max: 'Maximum cards',
  per_transaction_max_usd: 'Maximum purchase',
  daily_max_usd: 'Maximum daily spend per card',
  monthly_max_usd: 'Maximum monthly spend per card',
  withdrawal_min_usd: 'Minimum withdrawal',
  withdrawal_max_usd: 'Maximum withdrawal',
  withdrawal_daily_usd: 'Maximum withdrawals per day',
  withdrawal_fee_usd: 'Withdrawal fee',
}

/** The name of a limit, the same as customers see. */
export const limitName = (field: string): string =>
  names[field] ?? humanize(field.replace(/_usd$/, ''))
