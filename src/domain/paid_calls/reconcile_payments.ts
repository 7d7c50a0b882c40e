import { type Micros, usdFromMicros } from '#kernel/money.ts'
import type { NodeFetch } from '#platform/http_client/node_fetch.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { custodyOn } from '#rails/chain/custody.ts'
import { NETWORK, USDC } from '#rails/x402/requirement.ts'
import type { X402Settings } from '#rails/x402/x402_settings.ts'

export type PaymentsDifference = {
  network: string
  asset: string
  /** Received minus refunded, in the books. */
  ledger_usd: number
  /** Received for calls that did not run, and not returned yet. */
  owed_usd: number
  /** Returned to treasuries; these coins are customer money now. */
  credited_usd: number
  /** Network fees of our transfers, at the configured price of the native coin. */
  relayer_fees_usd: number
  /** Sent but not confirmed: these coins may arrive before the books say so. */
  in_flight_usd: number
  /** The balance of the receiving address; null if the node did not respond. */
  on_chain_usd: number | null
  /** on_chain_usd minus ledger_usd: coins that the operator added or withdrew. */
  difference_usd: number | null
  fault: string | null
}

type PaymentBooks = {
  received: Micros
  refunded: Micros
  owed: Micros
  credited: Micros
  in_flight: Micros
  fees: Micros
}

const BOOKS = `
  select coalesce(sum(amount_micros) filter (where settled_at is not null), 0)::bigint as received,
         coalesce(sum(amount_micros) filter (where state = 'refunded'), 0)::bigint as refunded,
         coalesce(sum(amount_micros) filter (where state in ('settled', 'owed', 'refunding')), 0)
           ::bigint as owed,
         coalesce(sum(amount_micros) filter (where state = 'credited'), 0)::bigint as credited,
         coalesce(sum(amount_micros) filter (where state = 'settling'), 0)::bigint as in_flight,
         (select coalesce(sum(fee_micros), 0)::bigint from x402_transfers) as fees
    from x402_payments
  having count(*) > 0 or $1`

/** Compares the books of paid calls with the balance of the receiving address. */
export async function reconcilePayments(
  tx: Tx,
  x402: X402Settings,
  fetch: NodeFetch,
): Promise<PaymentsDifference | null> {
  const [books] = await tx.rows<PaymentBooks>(BOOKS, [x402.prices.size > 0])
  if (books === undefined) return null
  const ledger = books.received - books.refunded
  const held = await balanceOnChain(x402, fetch)
  const isKnown = typeof held === 'bigint'
  return {
    network: NETWORK,
    asset: 'USDC',
    ledger_usd: usdFromMicros(ledger),
    owed_usd: usdFromMicros(books.owed),
    credited_usd: usdFromMicros(books.credited),
    relayer_fees_usd: usdFromMicros(books.fees),
    in_flight_usd: usdFromMicros(books.in_flight),
    on_chain_usd: isKnown ? usdFromMicros(held) : null,
    difference_usd: isKnown ? usdFromMicros(held - ledger) : null,
    fault: isKnown ? null : held,
  }
}

async function balanceOnChain(
  { rpc_url, pay_to }: X402Settings,
  fetch: NodeFetch,
): Promise<Micros | string> {
  if (rpc_url === null || pay_to === null) return 'no node is configured'
  const balanceOf = custodyOn({ url: rpc_url, headers: {}, family: 'evm' }, fetch)
  return balanceOf(USDC.slice(2), pay_to.slice(2)).catch((cause: unknown) =>
    cause instanceof Error ? cause.message : String(cause),
  )
}
