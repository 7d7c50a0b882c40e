import { type Books, runPatiently } from './books.ts'
import { decline, openPastAccount, purchase } from './history.ts'
import { startLoader } from './load.ts'
import { readAccount, readDecline, type Template } from './templates.ts'

const DAY_MS = 24 * 60 * 60_000
const YEAR_MS = 365 * DAY_MS
type FilledRows = {
  /** Accounts with a history of their own; the others are copies of theirs. */
  templates: number
  /** A customer with many cards, made by the engine alone. */
  busy: { cards: number; purchases: number; at_once: number }
  /** Declines of the busy account that are copied: they move no money. */
  declines: number
}
const MADE: FilledRows = {
  templates: 64,
  busy: { cards: 20, purchases: 4_000, at_once: 20 },
  declines: 100,
}
const SMALL_ACCOUNTS = 64
const ACCOUNTS_READ = 2_000

export type FillSize = { accounts: number; cards: number; transactions: number }
/** Of one account. */
export type Shape = { cards: number; purchases: number }
export type Population = {
  shape: Shape
  /** Some accounts to read. */
  accounts: string[]
  busy: string
  counts: Record<string, number>
}

/** Opens an account between two years and one year ago, with purchases until today. */
async function openTypical(books: Books, { cards, purchases }: Shape, at: number, of: number) {
  const from_ms = Date.now() - 2 * YEAR_MS + (at / of) * YEAR_MS
  const account = await openPastAccount(books, cards, from_ms)
  await purchase(books, account, { count: purchases, from_ms: from_ms + DAY_MS })
  return account.account_id
}

export async function openSmallBooks(books: Books, shape: Shape): Promise<string[]> {
  const accounts: string[] = []
  for (let at = 0; at < SMALL_ACCOUNTS; at += 1) {
    accounts.push(await openTypical(books, shape, at, SMALL_ACCOUNTS))
  }
  books.clock.setOffset(0)
  return accounts
}

/** Two transactions per purchase: the authorization and its capture. */
const shapeOf = ({ accounts, cards, transactions }: FillSize): Shape => ({
  cards: Math.max(1, Math.round(cards / accounts)),
  purchases: Math.max(1, Math.round(transactions / accounts / 2)),
})

/** Makes some accounts with the engine and copies their rows until there are enough. */
export async function fillBooks(books: Books, wanted: FillSize, busy_rows: number, made = MADE) {
  const { db } = books.dependencies
  const shape = shapeOf(wanted)
  const histories: Template[][] = []
  for (let at = 0; at < made.templates; at += 1) {
    const account_id = await openTypical(books, shape, at, made.templates)
    histories.push(await readAccount(db, account_id))
  }
  const busy = await openBusyAccount(books, made)
  const declines = await declinesOf(books, busy)
  books.clock.setOffset(0)
  // As if the events of the past had been delivered.
  await db.run('delete from outbox')

  // The account that is read far down gets more, at most a tenth of all others.
  const declined = Math.min(busy_rows + 1_000, Math.floor(wanted.transactions / 10))
  const per_account = 2 * shape.purchases
  const copies = Math.max(0, wanted.accounts - made.templates - 1)
  const loader = await startLoader(books.url, copies * per_account + declined)
  for (let at = 0; at < copies; at += 1) {
    await loader.copy(histories[at % made.templates] as Template[], per_account)
  }
  for (let at = 0; at < declined; at += 1) {
    await loader.copy(declines[at % declines.length] as Template[], 1)
  }
  await loader.end()
  const population: Population = {
    shape,
    accounts: await someAccounts(books),
    busy,
    counts: await countRows(books),
  }
  return population
}

async function openBusyAccount(books: Books, { busy, declines }: FilledRows): Promise<string> {
  const from_ms = Date.now() - YEAR_MS
  const account = await openPastAccount(books, busy.cards, from_ms - DAY_MS)
  const { purchases: count, at_once } = busy
  await purchase(books, account, { count, from_ms, at_once })
  await decline(books, account, { count: declines, from_ms })
  return account.account_id
}

async function declinesOf({ dependencies: { db } }: Books, busy: string): Promise<Template[][]> {
  const rows = await db.rows<{ id: string }>(
    `select id from transactions where account_id = $1 and type = 'decline' order by id`,
    [busy],
  )
  return Promise.all(rows.map(({ id }) => readDecline(db, busy, id)))
}

async function someAccounts(books: Books): Promise<string[]> {
  const text = `select id from accounts order by random() limit ${ACCOUNTS_READ}`
  return (await runPatiently<{ id: string }>(books, text)).map(({ id }) => id)
}

async function countRows(books: Books): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of ['accounts', 'cards', 'transactions', 'movements', 'events']) {
    const text = `select count(*) as count from ${table}`
    const [row] = await runPatiently<{ count: string }>(books, text)
    counts[table] = Number(row?.count ?? 0)
  }
  return counts
}
