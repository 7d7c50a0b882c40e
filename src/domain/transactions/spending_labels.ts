import { merchantGroupLabel } from '#contract/merchant_groups.ts'
import type { SpendingGroup } from '#contract/spending.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type CardLabel, findCardLabels } from './spending_store.ts'

const dayFormat = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' })
const monthFormat = new Intl.DateTimeFormat('en-US', {
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
})
const countryNames = new Intl.DisplayNames('en', { type: 'region' })

type LabelledGroups = { group_by: SpendingGroup; keys: readonly string[] }

/** Names the groups of a report for people. */
export async function makeLabels(
  tx: Tx,
  account_id: string,
  { group_by, keys }: LabelledGroups,
): Promise<(key: string) => string> {
  if (group_by !== 'card') return labelers[group_by]
  const cards = await findCardLabels(tx, account_id, keys)
  const labels = new Map(cards.map((card) => [card.id, cardLabel(card)]))
  return (id) => labels.get(id) ?? id
}

const labelers: Readonly<Record<Exclude<SpendingGroup, 'card'>, (key: string) => string>> = {
  day: (day) => dayFormat.format(new Date(day)),
  week: (monday) => `Week of ${dayFormat.format(new Date(monday))}`,
  month: (month) => monthFormat.format(new Date(month)),
  category: merchantGroupLabel,
  merchant: (name) => name,
  country: countryLabel,
}

/** Networks also send codes that are not assigned. */
function countryLabel(code: string): string {
  if (code === 'unknown') return 'Unknown'
  return /^[A-Z]{2}$/.test(code) ? (countryNames.of(code) ?? code) : code
}

const BRANDS: Readonly<Record<string, string>> = { visa: 'Visa', mastercard: 'Mastercard' }

function cardLabel({ name, brand, last4 }: CardLabel): string {
  const number = `${BRANDS[brand] ?? brand} •••• ${last4}`
  return name === null ? number : `${name} (${number})`
}
