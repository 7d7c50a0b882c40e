import { requestMaker } from '#bench/authorizations_parts/requests.ts'
import { readTransactionPage } from '#domain/transactions/transaction_store.ts'
import type { BareCard } from '#test/support/issuer.ts'
import type { Books } from './books.ts'

const IN_FLIGHT = 512
const READERS = 8
const REPEATS = 200

export type Reader = { books: Books; accounts: readonly string[] }

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/** Keeps calls in flight for some seconds; the calls that ended per second. */
async function rateOf(call: () => Promise<unknown>, in_flight: number, seconds: number) {
  const until = performance.now() + seconds * 1_000
  let count = 0
  const one = async () => {
    while (performance.now() < until) {
      await call()
      count += 1
    }
  }
  await Promise.all(Array.from({ length: in_flight }, one))
  return count / seconds
}

/** The engine in this process, with durable commits. */
export function authorizationRate(
  { dependencies, engine }: Books,
  cards: BareCard[],
  seconds: number,
): Promise<number> {
  const make = requestMaker({ dependencies, cards })
  return rateOf(() => engine.submit(make()), IN_FLIGHT, seconds)
}

const readPageOf = ({ account_pool }: Books, account_id: string, before?: string) =>
  readTransactionPage(
    account_pool.of(account_id),
    'list_transactions',
    {},
    {
      account_id,
      ...(before !== undefined && { filters: [['id < ?', before]] }),
    },
  )

/** First pages of different accounts, as the account sees them. */
export function pageRate({ books, accounts }: Reader, seconds: number): Promise<number> {
  let at = 0
  const next = () => {
    at += 1
    return readPageOf(books, accounts[at % accounts.length] as string)
  }
  return rateOf(next, READERS, seconds)
}

/** Page 1 and a page far down, or the last whole one, in turns. */
export async function pageMs(
  books: Books,
  account_id: string,
  { FAR_PAGE, PAGE_ROWS }: { FAR_PAGE: number; PAGE_ROWS: number },
) {
  const { db } = books.dependencies
  const [row] = await db.rows<{ count: bigint }>(
    'select count(*) as count from transactions where account_id = $1',
    [account_id],
  )
  const page = Math.min(FAR_PAGE, Math.floor(Number(row?.count ?? 0n) / PAGE_ROWS))
  const [last] = await db.rows<{ id: string }>(
    'select id from transactions where account_id = $1 order by id desc offset $2 limit 1',
    [account_id, (page - 1) * PAGE_ROWS - 1],
  )
  const times = { near: [] as number[], far: [] as number[] }
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    times.near.push(await msOf(() => readPageOf(books, account_id)))
    times.far.push(await msOf(() => readPageOf(books, account_id, last?.id ?? '')))
  }
  return { near_ms: median(times.near), far_ms: median(times.far), page }
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

const CALLS = 10

/** The median time of a call over HTTP, with its body. */
export async function callMs(url: string, key: string): Promise<number> {
  const times: number[] = []
  for (let repeat = 0; repeat < CALLS; repeat += 1) {
    times.push(
      await msOf(async () => {
        const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
        const body = await response.arrayBuffer()
        if (response.status !== 200) throw new Error(`${url}: ${Buffer.from(body)}`)
      }),
    )
  }
  return median(times)
}
