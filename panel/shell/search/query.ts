/** The words of a search text, and an amount if one of them is a number. */
export type SearchQuery = { words: readonly string[]; amount: AmountRange | null }

type AmountRange = { from_usd: number; to_usd: number }

const AMOUNT = /^\$?(\d{1,3}(?:,\d{3})+|\d{1,9})(\.\d{1,6})?$/

/** "netflix $15.49" is a merchant and an amount; "15" is every amount from 15.00 to 15.99. */
export function parseQuery(text: string): SearchQuery {
  const all = text.trim().toLowerCase().split(/\s+/).filter(Boolean)
  const amount_text = all.find((word) => AMOUNT.test(word))
  return {
    words: all.filter((word) => word !== amount_text),
    amount: amount_text === undefined ? null : rangeOf(amount_text),
  }
}

function rangeOf(text: string): AmountRange {
  const from_usd = Number(text.replaceAll(/[$,]/g, ''))
  return { from_usd, to_usd: text.includes('.') ? from_usd : from_usd + 0.999999 }
}

type Searchable = { text: string; amounts?: readonly number[] }

/** True if every word occurs in the text and one of the amounts is in the range. */
export function matchesQuery({ words, amount }: SearchQuery, row: Searchable): boolean {
  const text = row.text.toLowerCase()
  if (!words.every((word) => text.includes(word))) return false
  if (amount === null) return true
  const { from_usd, to_usd } = amount
  const is_amount = (row.amounts ?? []).some((usd) => usd >= from_usd && usd <= to_usd)
  // A number may also be part of a name: the last digits of a card, an address.
  return is_amount || text.includes(String(from_usd))
}

const object_pages: Readonly<Record<string, string>> = {
  card: '/cards',
  txn: '/transactions',
  tup: '/topups',
  wd: '/withdrawals',
  dsp: '/disputes',
  tkt: '/tickets',
  wh: '/developers/webhooks',
  apr: '/approvals',
}

/** The page of an object, if the text is its ID. */
export function pageOfId(text: string): string | null {
  const id = text.trim()
  const page = /^[a-z]+_[0-9a-z]{26}$/.test(id) ? object_pages[id.split('_')[0] ?? ''] : undefined
  return page === undefined ? null : `${page}/${id}`
}
