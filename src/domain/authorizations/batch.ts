import { type Heads, recordEventSet } from '#domain/events/record_event_set.ts'
import type { CommitBehind, Tx } from '#platform/db.ts'
import { decide } from './decide.ts'
import { type EngineSeams, lookUp } from './look_up.ts'
import {
  type AnsweredMessage,
  insertEarlyReversals,
  insertMessages,
  markChallengesUsed,
  writeAttempts,
} from './outcome_store.ts'
import { declined } from './record.ts'
import type { Answered, CardRequest } from './request.ts'
import { insertTransactions, updateTransactions } from './transaction_sets.ts'
import { insertUnpriced } from './unpriced_store.ts'
import type { Unpriced, Work } from './work.ts'

/** Another node has answered one of these messages in between. */
export class AnsweredElsewhere extends Error {}

type BatchRun = {
  batch: readonly CardRequest[]
  locks_all: boolean
  commitBehind: CommitBehind
}

/** One batch, in one transaction: what is locked and looked up, decided, and written. */
export async function runBatch(
  seams: EngineSeams,
  tx: Tx,
  { batch, locks_all, commitBehind }: BatchRun,
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
  await write(seams, tx, { work, heads, messages, commitBehind })
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

type Outcome = {
  work: Work
  heads: Heads
  messages: readonly AnsweredMessage[]
  commitBehind: CommitBehind
}

async function write(
  { settings, clock, newId }: EngineSeams,
  tx: Tx,
  { work, heads, messages, commitBehind }: Outcome,
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
  // What is rare takes journeys of its own.
  await writeAttempts(tx, work.failed_cards)
  await markChallengesUsed(tx, work.used_challenges)
  await insertUnpriced(tx, work.unpriced, now)
  // The rest goes in one with its commit, in the order it is asked for here.
  const written = Promise.all([
    insertTransactions(tx, work.made),
    work.posting.write(),
    updateTransactions(tx, work.changed, now),
    insertEarlyReversals(tx, work.new_early_reversals, now),
    recordEventSet(tx, heads, work.events, telling),
    insertMessages(tx, messages),
  ])
  commitBehind()
  const results = await written
  if (results.at(-1) === true) throw new AnsweredElsewhere('a message was answered elsewhere')
}
