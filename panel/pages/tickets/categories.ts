import type { Ticket } from '#contract/support.ts'

export const category_options: readonly (readonly [Ticket['category'], string])[] = [
  ['card', 'Card'],
  ['topup', 'Top-up'],
  ['withdrawal', 'Withdrawal'],
  ['dispute', 'Dispute'],
  ['account', 'Account'],
  ['other', 'Other'],
]
