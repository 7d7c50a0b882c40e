import { isKilled } from '#domain/access/kill_switch.ts'
import { spendingWindow } from '#domain/cards/limits.ts'
import { lockHeads, recordEventSet } from '#domain/events/record_event_set.ts'
import { beginPosting } from '#domain/ledger/post.ts'
import { cardPurse, holdPurse, type Purse, receivable, treasury } from '#domain/ledger/purse.ts'
import type { Seams } from '#platform/context.ts'
import type { Database, Tx } from '#platform/db.ts'
import { decide } from './decide.ts'
import { type CardFacts, withoutCountries } from './facts.ts'
import {
  cardFacts,
  findChallenges,
  findPurchases,
  findSeen,
  findSpent,
  lockCards,
  type SeenRow,
} from './facts_store.ts'
import {
  type AnsweredMessage,
  insertEarlyReversals,
  insertMessages,
  markChallengesUsed,
  writeAttempts,
  writeSpending,
} from './outcome_store.ts'
import { Purchases } from './purchases.ts'
import { declined } from './record.ts'
import { type Answered, type CardRequest, isFact } from './request.ts'
import { insertTransactions, updateTransactions } from './transaction_sets.ts'
import { insertUnpriced } from './unpriced_store.ts'
import type { Unpriced, Work } from './work.ts'

/** What a batch works with. */
export type EngineSeams = Pick<
  Seams,
  'settings' | 'clock' | 'random' | 'newId' | 'log' | 'metrics'
> & {
  /** A database of the engine's own, so that no slow query elsewhere can hold it up. */
  db: Database
}

/** The contract's: what nobody captures is given back after a week. */
export const HOLD_LIFETIME_MS = 7 * 24 * 3_600_000

const CODE_LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ0123456789'
const CODE_LENGTH = 6

/** Another node has answered one of these messages in between. */
export class AnsweredElsewhere extends Error {}

/** One batch, in one transaction: what is locked and looked up, decided, and written. */
export async function runBatch(
  seams: EngineSeams,
  tx: Tx,
  batch: readonly CardRequest[],
): Promise<{ answered: readonly Answered[]; unpriced: readonly Unpriced[] }> {
  const { work, seen, heads } = await lookUp(seams, tx, batch)
  const answers = new Map<string, Known>()
  for (const { identity, fingerprint, answer } of seen) {
    if (answer !== null && fingerprint !== null)
      answers.set(identity, { fingerprint, kept: answer })
  }
  const messages: AnsweredMessage[] = []
  const answered = batch.map((request): Answered => {
    const known = answers.get(request.identity)
    if (known !== undefined) return repeated(request, known)
    const made = decide(work, request)
    const answer = request.answer(made)
    messages.push({ request, answer, transaction: made.transaction })
    const first = { answer: answer.bytes, is_repeat: false, decision: made }
    const kept = answer.kept_bytes
    answers.set(request.identity, { fingerprint: request.fingerprint, kept })
    return first
  })
  await write(seams, tx, { work, heads, messages })
  return { answered, unpriced: work.unpriced }
}

type Known = { fingerprint: string; kept: Uint8Array }

/** The first answer, byte for byte; unless it is another message under the same identity. */
function repeated(request: CardRequest, { fingerprint, kept }: Known): Answered {
  if (fingerprint === request.fingerprint) {
    return { answer: request.restore(kept), is_repeat: true, decision: null }
  }
  const decision = declined('duplicate_conflict')
  return { answer: request.answer(decision).bytes, is_repeat: true, decision }
}

type LookedUp = { work: Work; seen: readonly SeenRow[]; heads: Map<string, number> }

async function lookUp(
  seams: EngineSeams,
  tx: Tx,
  batch: readonly CardRequest[],
): Promise<LookedUp> {
  const now = seams.clock.now()
  const window = spendingWindow(now)
  const pan_hashes = [...new Set(batch.map(({ pan_hash }) => pan_hash))]
  const identities = batch.map(({ identity }) => identity)
  // Sent together and answered in turn: each statement sees what was committed before its own.
  const [locked, spent, seen, rows, challenges, is_paused] = await Promise.all([
    lockCards(tx, pan_hashes),
    findSpent(tx, pan_hashes, window),
    findSeen(tx, identities),
    findPurchases(tx, batch, now),
    findChallenges(tx, batch),
    isKilled(tx, 'authorizations'),
  ])
  const spent_of = new Map(spent.map((row) => [row.id, row]))
  const cards = new Map(
    locked.map((card) => {
      const own = cardFacts(card, spent_of.get(card.id), seams.settings.spend_limits)
      const facts = withoutCountries(own, seams.settings.risk.blocked_countries)
      return [card.pan_hash, facts] as const
    }),
  )
  const owing = new Set(spent.filter((row) => row.owed_micros > 0n).map(({ id }) => id))
  const account_ids = [...new Set(locked.map(({ account_id }) => account_id))]
  const [posting, heads] = await Promise.all([
    beginPosting(tx, pursesFor(batch, cards, owing), { now, newId: seams.newId }),
    lockHeads(tx, account_ids),
  ])
  const purchases = new Purchases()
  for (const row of rows) purchases.add(row)
  const work: Work = {
    now,
    window,
    expires_at: new Date(now.getTime() + HOLD_LIFETIME_MS),
    newId: (prefix) => seams.newId(prefix, now),
    newAuthorizationCode: () => newCode(seams),
    posting,
    cards,
    is_paused,
    partial_approvals: seams.settings.risk.partial_approvals,
    early_reversals: new Set(seen.filter((row) => row.answer === null).map((row) => row.identity)),
    challenges: new Map(challenges.map((challenge) => [challenge.id, challenge])),
    purchases,
    made: [],
    changed: new Map(),
    spending: new Map(),
    events: [],
    new_early_reversals: new Set(),
    failed_cards: new Set(),
    used_challenges: [],
    unpriced: [],
  }
  return { work, seen, heads }
}

function newCode({ random }: EngineSeams): string {
  const bytes = random.bytes(CODE_LENGTH)
  let code = ''
  for (const byte of bytes) code += CODE_LETTERS[byte % CODE_LETTERS.length]
  return code
}

/** A question touches only its card; facts and debts also what the account owes and has. */
function pursesFor(
  batch: readonly CardRequest[],
  cards: ReadonlyMap<string, CardFacts>,
  owing: ReadonlySet<string>,
): (Purse & { account_id: string })[] {
  return batch.flatMap(({ kind, pan_hash }) => {
    const card = cards.get(pan_hash)
    if (card === undefined) return []
    const purses = [cardPurse(card.id), holdPurse(card.id)]
    if (isFact(kind) || owing.has(card.id)) purses.push(receivable, treasury)
    return purses.map((purse) => ({ account_id: card.account_id, ...purse }))
  })
}

type Outcome = {
  work: Work
  heads: Map<string, number>
  messages: readonly AnsweredMessage[]
}

async function write(
  { settings, clock, newId }: EngineSeams,
  tx: Tx,
  { work, heads, messages }: Outcome,
): Promise<void> {
  const { now } = work
  const telling = {
    livemode: settings.mode === 'live',
    request: null,
    stamp: () => {
      const created_at = clock.now()
      return { id: newId('evt', created_at), created_at }
    },
  }
  // In the order they are sent; the messages come last, when nothing else is waited for.
  const results = await Promise.all([
    insertTransactions(tx, work.made),
    work.posting.write(),
    updateTransactions(tx, work.changed, now),
    writeSpending(tx, work.spending.values()),
    writeAttempts(tx, work.failed_cards),
    markChallengesUsed(tx, work.used_challenges),
    insertEarlyReversals(tx, work.new_early_reversals, now),
    insertUnpriced(tx, work.unpriced, now),
    recordEventSet(tx, heads, work.events, telling),
    insertMessages(tx, messages),
  ])
  if (results.at(-1) === true) throw new AnsweredElsewhere('a message was answered elsewhere')
}
