import { formatUsd, type Micros } from '#kernel/money.ts'
import type { Email } from './layout.ts'

export function lowBalanceEmail(balance_micros: Micros, threshold_micros: Micros): Email {
  const balance = formatUsd(balance_micros)
  return {
    subject: `Your balance is low: ${balance}`,
    lines: [
      `That is below your alert threshold of ${formatUsd(threshold_micros)}. Top up to keep ` +
        'loading cards.',
    ],
    button: { label: 'Add money', to: '/topups' },
  }
}
