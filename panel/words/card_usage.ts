import type { Card } from '#contract/cards.ts'

/** The choices of the form that issues a card. */
export const usage_names: Readonly<Record<Card['usage'], string>> = {
  reusable: 'Any number of purchases',
  single_use: 'One purchase, then canceled',
  merchant_locked: 'One merchant only',
}

/** In two words, beside the type of a card. */
export const usage_labels: Readonly<Record<Card['usage'], string | null>> = {
  reusable: null,
  single_use: 'Single-use',
  merchant_locked: 'Merchant-locked',
}

type Usage = Pick<Card, 'usage' | 'merchant_lock' | 'cancel_reason'>

/** A sentence about a card of limited usage; null for a reusable one. */
export function usageSentence({ usage, merchant_lock, cancel_reason }: Usage): string | null {
  if (usage === 'single_use') {
    return cancel_reason === 'used'
      ? 'This single-use card made its purchase and was canceled.'
      : 'This card works for one purchase and is then canceled.'
  }
  if (usage === 'reusable') return null
  return merchant_lock === null
    ? 'The first merchant that uses this card becomes its only one.'
    : `This card only works at ${merchant_lock.name}.`
}
