import { useQuery } from '@tanstack/react-query'
import { requestJson } from '#panel/api.ts'
import { useMerchants } from '#panel/pages/disputes/merchants.ts'
import { isPurchase, purchaseState, purchaseUsd } from '#panel/pages/transactions/purchase.ts'
import { useOperationQuery } from '#panel/queries.ts'
import { serviceNow } from '#panel/service_clock.ts'
import { statusLabel } from '#panel/ui/badge.tsx'
import { cardTitle } from '#panel/ui/card_face.tsx'
import { formatUsd } from '#panel/ui/money.tsx'
import { formatTime } from '#panel/ui/time.tsx'
import { useNewestRows } from './newest_rows.ts'
import { matchesQuery, pageOfId, parseQuery } from './query.ts'

/** A page, an action or an object. `hint` is shown at the right. */
export type Result = { group: string; text: string; hint: string; to: string }

const GROUP_MAX = 6

const timeOf = (at: string) => formatTime(new Date(at), new Date(serviceNow()))
const hintOf = (status: string, at: string) => `${statusLabel(status)} · ${timeOf(at)}`

/** Purchases by merchant and amount, found by the service. */
function useTransactions(text: string): Result[] {
  const { words, amount } = parseQuery(text)
  const merchant = words.join(' ')
  const input = {
    limit: 50,
    ...(merchant !== '' && { merchant: merchant.slice(0, 100) }),
    ...(amount !== null && { amount_gte: amount.from_usd, amount_lte: amount.to_usd }),
  }
  const found = useOperationQuery('list_transactions', input, { enabled: text !== '' })
  if (text === '') return []
  return (found.data?.data ?? []).filter(isPurchase).map((row) => ({
    group: 'Transactions',
    text: `${row.merchant_name} · ${formatUsd(purchaseUsd(row))}`,
    hint: hintOf(purchaseState(row), row.created_at),
    to: `/transactions/${row.id}`,
  }))
}

type ListedResult = Result & { searched: string; amounts: readonly number[] }

/** The newest rows of each list: the service has no search for them. */
function useListed(): { listed: ListedResult[]; cut: string[] } {
  const cards = useNewestRows('list_cards')
  const topups = useNewestRows('list_topups')
  const withdrawals = useNewestRows('list_withdrawals')
  const disputes = useNewestRows('list_disputes')
  // One request names them; an older dispute is shown without its merchant.
  const merchants = useMerchants(disputes.rows.slice(0, 100))
  const lists = { cards, 'top-ups': topups, withdrawals, disputes }
  const cut = Object.entries(lists).flatMap(([name, { is_cut }]) => (is_cut ? [name] : []))
  const listed = [
    ...cards.rows.map((card) => ({
      group: 'Cards',
      text: cardTitle(card),
      hint: `${card.brand === 'visa' ? 'Visa' : 'Mastercard'} ·· ${card.last4}`,
      to: `/cards/${card.id}`,
      searched: `card ${card.brand} ${card.last4} ${card.status}`,
      amounts: [card.balance_usd],
    })),
    ...topups.rows.map((topup) => ({
      group: 'Top-ups',
      text: `Top-up of ${formatUsd(topup.amount_usd)}`,
      hint: hintOf(topup.status, topup.created_at),
      to: `/topups/${topup.id}`,
      searched: `topup deposit ${topup.asset} ${topup.chain} ${topup.deposit_address}`,
      amounts: [topup.amount_usd, topup.credited_usd],
    })),
    ...withdrawals.rows.map((withdrawal) => ({
      group: 'Withdrawals',
      text: `Withdrawal of ${formatUsd(withdrawal.amount_usd)}`,
      hint: hintOf(withdrawal.status, withdrawal.created_at),
      to: `/withdrawals/${withdrawal.id}`,
      searched: `${withdrawal.address} ${withdrawal.asset} ${withdrawal.chain}`,
      amounts: [withdrawal.amount_usd, withdrawal.net_usd],
    })),
    ...disputes.rows.map((dispute) => ({
      group: 'Disputes',
      text: `${merchants.get(dispute.id) ?? 'Dispute'} · ${formatUsd(dispute.amount_usd)}`,
      hint: hintOf(dispute.outcome ?? dispute.status, dispute.created_at),
      to: `/disputes/${dispute.id}`,
      searched: `dispute ${dispute.reason.replaceAll('_', ' ')}`,
      amounts: [dispute.amount_usd],
    })),
  ]
  return { listed, cut }
}

type DocsResult = { title: string; page: string; href: string }

function useDocs(text: string): Result[] {
  const path = `/docs/search.json?${new URLSearchParams({ q: text })}`
  const found = useQuery({
    queryKey: ['docs_search', text],
    queryFn: ({ signal }) =>
      requestJson<DocsResult[]>(path, { method: 'GET', bearer: null, signal }),
    enabled: text !== '',
  })
  if (text === '') return []
  return (found.data ?? []).map(({ title, page, href }) => ({
    group: 'Documentation',
    text: title,
    hint: page !== title ? page : href.startsWith('/docs/api/') ? 'API reference' : 'Guide',
    to: href,
  }))
}

/** `cut` names the lists that have rows older than those searched. */
type SearchResults = { results: Result[]; cut: readonly string[] }

type Search = { text: string; settled: string; commands: readonly Result[] }

/**
 * Pages and actions first, then objects, then the documentation. The panel's own rows are found
 * immediately; requests to the service follow when the typing pauses.
 */
export function useResults({ text, settled, commands }: Search): SearchResults {
  const query = parseQuery(text)
  const { listed, cut } = useListed()
  const found_transactions = useTransactions(settled.trim())
  const found_docs = useDocs(settled.trim())
  const is_settled = settled === text
  const transactions = is_settled ? found_transactions : []
  const docs = is_settled ? found_docs : []
  const matching = (rows: readonly (Result & Partial<ListedResult>)[]) =>
    rows.filter((row) => {
      const searched = `${row.text} ${row.hint} ${row.group} ${row.searched ?? ''}`
      return matchesQuery(query, { text: searched, amounts: row.amounts ?? [] })
    })
  const own_page = pageOfId(text)
  const opened =
    own_page === null
      ? []
      : [{ group: 'Go to', text: `Open ${text.trim()}`, hint: 'ID', to: own_page }]
  const is_empty = text.trim() === ''
  const found = [
    ...opened,
    ...matching(commands),
    ...(is_empty ? matching(listed).filter(({ group }) => group === 'Cards') : []),
    ...(is_empty ? [] : transactions),
    ...(is_empty ? [] : matching(listed)),
    ...docs,
  ]
  return { results: is_empty ? found : limitGroups(found), cut }
}

function limitGroups(results: readonly Result[]): Result[] {
  const counts = new Map<string, number>()
  return results.filter(({ group }) => {
    const count = (counts.get(group) ?? 0) + 1
    counts.set(group, count)
    return count <= GROUP_MAX
  })
}
