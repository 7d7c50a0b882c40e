import type { Ticket } from '#contract/support.ts'

export const category_options: readonly (readonly [Ticket['category'], string])[] = [
  ['card', 'A card'],
  ['topup', 'A top-up'],
  ['withdrawal', 'A withdrawal'],
  ['dispute', 'A dispute'],
  ['account', 'The account'],
  ['other', 'Something else'],
]
