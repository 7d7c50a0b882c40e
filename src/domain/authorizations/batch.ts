import { type Heads, recordEventSet } from '#domain/events/record_event_set.ts'
import type { Tx } from '#platform/db.ts'
import { decide } from './decide.ts'
import { type EngineSeams, lookUp } from './look_up.ts'
import {
  type AnsweredMessage,
  insertEarlyReversals,
  insertMessages,
  markChallengesUsed,
  writeAttempts,
  writeSpending,
} from './outcome_store.ts'
import { declined } from './record.ts'
import type { Answered, CardRequest } from './request.ts'
import { insertTransactions, updateTransactions } from './transaction_sets.ts'
import { insertUnpriced } from './unpriced_store.ts'
import type { Unpriced, Work } from './work.ts'

/** Another node has answered one of these messages in between. */
export class AnsweredElsewhere extends Error {}

/** One batch, in one transaction: what is locked and looked up, decided, and written. */
export async function runBatch(
  seams: EngineSeams,
  tx: Tx,
  { batch, locks_all }: { batch: readonly CardRequest[]; locks_all: boolean },
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

type Outcome = {
  work: Work
  heads: Heads
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
