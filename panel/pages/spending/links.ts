import { codesOfMerchantGroup } from '#contract/merchant_groups.ts'
import type { SpendingGroup } from '#contract/spending.ts'
import type { MonthRange } from './months.ts'

type SpendingLink = { group_by: SpendingGroup; key: string; range: MonthRange; card_id: string }

/** The captures and refunds behind a figure; undefined if the list has no filter for them. */
export function transactionsHref({
  group_by,
  key,
  range,
  card_id,
}: SpendingLink): string | undefined {
  const filter = filterOf(group_by, key)
  if (filter === undefined) return undefined
  const query = new URLSearchParams({
    type: 'capture,refund',
    period: 'between',
    ...range,
    zone: 'utc',
    ...(card_id !== '' && { card_id }),
    ...filter,
  })
  return `/transactions?${query}`
}

function filterOf(group_by: SpendingGroup, key: string): Record<string, string> | undefined {
  switch (group_by) {
    case 'day':
      return { from: key, to: key }
    case 'merchant':
      return { merchant: key }
    case 'card':
      return { card_id: key }
    case 'country':
      return key === 'unknown' ? undefined : { country: key }
    case 'category': {
      const mcc = codesOfMerchantGroup(key).join(',')
      return mcc === '' ? undefined : { mcc }
    }
    default:
      return {}
  }
}
