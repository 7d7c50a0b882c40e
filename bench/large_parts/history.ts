import { STANDARD_NOTIFICATIONS } from '#domain/accounts/account.ts'
import { insertAccount } from '#domain/accounts/account_store.ts'
import { move } from '#domain/ledger/move.ts'
import { cardPurse, operator, treasury } from '#domain/ledger/purse.ts'
import { microsFromUsd } from '#kernel/money.ts'
import { type BareCard, insertBareCard, issuerOver, purchaseMessage } from '#test/support/issuer.ts'
import type { Books } from './books.ts'

const DAY_MS = 24 * 60 * 60_000
/** Every purchase is captured a day later, and none is open. */
const NEWEST_MS = 3 * DAY_MS
const CARD_USD = 500_000
const TOO_MANY_CENTS = 900_000_000

export type PastAccount = { account_id: string; cards: BareCard[] }

/** Sets the clock of the books, so that rows and their IDs have this time. */
const goTo = ({ clock }: Books, ms: number) => clock.setOffset(ms - Date.now())

/** Opens an account with funded cards at a time in the past. */
export async function openPastAccount(
  books: Books,
  card_count: number,
  at_ms: number,
): Promise<PastAccount> {
  const { dependencies } = books
  const { db, newId } = dependencies
  goTo(books, at_ms)
  const now = dependencies.clock.now()
  const account_id = newId('acct', now)
  await db.transaction(async (tx) => {
    const email = `${account_id}@example.com`
    const notifications = STANDARD_NOTIFICATIONS
    await insertAccount(tx, { id: account_id, email, password_hash: '-', notifications, now })
    const funding = {
      movement: 'adjusted_up' as const,
      account_id,
      from: operator,
      to: treasury,
      amount_micros: microsFromUsd(CARD_USD * card_count),
      reference: { type: 'account', id: account_id },
      description: 'Money for the bench.',
    }
    await move(tx, funding, { now, newId })
  })
  const cards: BareCard[] = []
  for (let at = 0; at < card_count; at += 1) {
    goTo(books, at_ms + (at + 1) * 60_000)
    cards.push(await openPastCard(books, account_id))
  }
  return { account_id, cards }
}

async function openPastCard({ dependencies }: Books, account_id: string): Promise<BareCard> {
  const { db, newId, clock } = dependencies
  const card = await insertBareCard({ db, dependencies }, { account_id, usd: 0 })
  const loading = {
    movement: 'card_loaded' as const,
    account_id,
    from: treasury,
    to: cardPurse(card.id),
    amount_micros: microsFromUsd(CARD_USD),
    reference: { type: 'test', id: 'load' },
    description: 'Money for the bench.',
  }
  await db.transaction((tx) => move(tx, loading, { now: clock.now(), newId }))
  return card
}

type PastPurchases = { count: number; from_ms: number; at_once?: number }

/** Purchases and their captures, a day later, evenly from a time until some days ago. */
export async function purchase(
  books: Books,
  { cards }: PastAccount,
  { count, from_ms, at_once = 1 }: PastPurchases,
): Promise<void> {
  const { ask } = issuerOver(books.dependencies, books.engine)
  const step_ms = ((Date.now() - NEWEST_MS - from_ms) * at_once) / count
  for (let at = 0; at < count; at += at_once) {
    const began_ms = from_ms + (at / at_once) * step_ms + Math.random() * step_ms * 0.5
    const messages = Array.from({ length: Math.min(at_once, count - at) }, (_, each) => {
      const card = cards[(at + each) % cards.length] as BareCard
      return { card, cents: 500 + Math.floor(Math.random() * 9_500) }
    })
    goTo(books, began_ms)
    const now = books.clock.now()
    const sent = messages.map(({ card, cents }) => purchaseMessage(card, cents, { now }))
    await Promise.all(sent.map((message) => expectApproval(ask(message))))
    goTo(books, began_ms + DAY_MS)
    const captures = messages.map(({ card, cents }, each) => {
      const reference = { 37: sent[each]?.fields[37] }
      const time = books.clock.now()
      return purchaseMessage(card, cents, { mti: '0220', now: time, fields: reference })
    })
    await Promise.all(captures.map((message) => expectApproval(ask(message))))
  }
}

async function expectApproval(response: ReturnType<ReturnType<typeof issuerOver>['ask']>) {
  const { fields } = await response
  if (fields[39] !== '00') throw new Error(`response code ${fields[39]}`)
}

/** Purchases that are declined, evenly from a time until today. */
export async function decline(
  books: Books,
  { cards }: PastAccount,
  { count, from_ms }: PastPurchases,
): Promise<void> {
  const { ask } = issuerOver(books.dependencies, books.engine)
  const step_ms = (Date.now() - NEWEST_MS - from_ms) / count
  for (let at = 0; at < count; at += 1) {
    goTo(books, from_ms + at * step_ms)
    const card = cards[at % cards.length] as BareCard
    await ask(purchaseMessage(card, TOO_MANY_CENTS, { now: books.clock.now() }))
  }
}
