import type { Card } from '#contract/cards.ts'

/**
 * The background of a card, the same in both themes. Each brand has its own colors, and cards of
 * one brand differ by their digits; a card that can't be used is gray.
 */
const colors: Readonly<Record<Card['brand'], readonly string[]>> = {
  visa: [
    'bg-[radial-gradient(120%_140%_at_100%_0%,#2f8a72_0%,#1d5c4d_45%,#10362d_100%)]',
    'bg-[radial-gradient(120%_140%_at_100%_0%,#3a74b8_0%,#234f86_45%,#132d50_100%)]',
    'bg-[radial-gradient(120%_140%_at_100%_0%,#6a5bb0_0%,#463a83_45%,#29214f_100%)]',
  ],
  mastercard: [
    'bg-[radial-gradient(120%_140%_at_100%_0%,#5b5f66_0%,#34373d_45%,#1b1d21_100%)]',
    'bg-[radial-gradient(120%_140%_at_100%_0%,#a34b3c_0%,#74301f_45%,#431a10_100%)]',
    'bg-[radial-gradient(120%_140%_at_100%_0%,#8a4a78_0%,#612f54_45%,#381a30_100%)]',
  ],
}

const GRAY = 'bg-[linear-gradient(#49524e,#333a37)]'

export function cardColor({ brand, last4, status }: Pick<Card, 'brand' | 'last4' | 'status'>) {
  if (status !== 'active') return GRAY
  const own = colors[brand]
  return own[Number(last4) % own.length] ?? GRAY
}
