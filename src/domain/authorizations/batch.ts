import { eventSetWrites, type Heads } from '#domain/events/record_event_set.ts'
import type { CommitWith, Tx } from '#platform/db.ts'
import type { Write } from '#platform/write.ts'
import { decide } from './decide.ts'
import { type EngineSeams, lookUp } from './look_up.ts'
import {
  type AnsweredMessage,
  isAnsweredElsewhere,
  markChallengesUsed,
  newEarlyReversals,
  newMessages,
  writeAttempts,
} from './outcome_store.ts'
import { declined } from './record.ts'
import { writeRefundState } from './refund_state.ts'
import type { Answered, CardRequest } from './request.ts'
import { changedTransactions, newTransactions } from './transaction_sets.ts'
import { insertUnpriced } from './unpriced_store.ts'
import type { Unpriced, Work } from './work.ts'

/** Another node has answered one of these messages in between. */
export class AnsweredElsewhere extends Error {}

type BatchRun = {
  batch: readonly CardRequest[]
  locks_all: boolean
  commitWith: CommitWith
}

/** One batch, in one transaction: what is locked and looked up, decided, and written. */
export async function runBatch(
  seams: EngineSeams,
  tx: Tx,
  { batch, locks_all, commitWith }: BatchRun,
): Promise<{ answered: readonly Answered[]; unpriced: readonly Unpriced[] }> {
  const { work, seen, heads } = await lookUp(seams, tx, { batch, locks_all })
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
  await writeRareOutcomes(tx, work)
  // Everything is built before anything is sent: a fault in between must not commit a part.
  await commitWith(outcomeWrites(seams, { work, heads, messages })).catch((cause: unknown) => {
    throw isAnsweredElsewhere(cause) ? new AnsweredElsewhere('a node was faster', { cause }) : cause
  })
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

type Outcome = { work: Work; heads: Heads; messages: readonly AnsweredMessage[] }

/** These are rare enough for round trips of their own. */
async function writeRareOutcomes(tx: Tx, work: Work): Promise<void> {
  await writeAttempts(tx, work.failed_cards)
  await markChallengesUsed(tx, work.used_challenges)
  await insertUnpriced(tx, work.unpriced, work.now)
  await writeRefundState(tx, work.refunds)
}

/** The writes of a batch in the order of their locks: purses before the accounts' sequences. */
function outcomeWrites(seams: EngineSeams, { work, heads, messages }: Outcome): Write[] {
  const { settings, clock, newId, fail } = seams
  const { now } = work
  const telling = {
    livemode: settings.mode === 'live',
    request: null,
    stamp: () => {
      const created_at = clock.now()
      return { id: newId('evt', created_at), created_at }
    },
  }
  const builders = {
    batch_transactions: () => newTransactions(work.made),
    batch_postings: () => work.posting.writes(),
    batch_changes: () => changedTransactions(work.changed, now),
    batch_early_reversals: () => newEarlyReversals(work.new_early_reversals, now),
    batch_events: () => eventSetWrites(heads, work.events, telling),
    batch_messages: () => newMessages(messages),
  } as const
  return Object.entries(builders).flatMap(([failpoint, build]) => {
    fail(failpoint as keyof typeof builders)
    return build()
  })
}
