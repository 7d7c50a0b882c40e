import { type AccountSequences, eventSetWrites } from '#domain/events/record_event_set.ts'
import type { CommitWith, Tx } from '#platform/postgres/db.ts'
import type { Write } from '#platform/postgres/write.ts'
import type { ComputeQueue } from '#platform/runtime/compute_queue.ts'
import type { BatchState, Unpriced } from './batch_state.ts'
import { decide } from './decide.ts'
import { type EngineDependencies, type LoadedBatch, loadBatch } from './load_batch.ts'
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

/** Messages that are decided in one turn of the event loop: some 4 ms. 512 took up to 90 ms. */
const SLICE = 128

/** Another node has answered one of these messages in between. */
export class AnsweredElsewhere extends Error {}

type BatchRun = {
  batch: readonly CardRequest[]
  locks_all: boolean
  commitWith: CommitWith
  compute: ComputeQueue
}

/** One batch, in one transaction: what is locked and looked up, decided, and written. */
export async function runBatch(
  dependencies: EngineDependencies,
  tx: Tx,
  { batch, locks_all, commitWith, compute }: BatchRun,
): Promise<{ answered: readonly Answered[]; unpriced: readonly Unpriced[] }> {
  const looked_up = await loadBatch(dependencies, tx, { batch, locks_all })
  const { state } = looked_up
  // Everything is built before anything is sent: a fault in between must not commit a part.
  const { answered, writes } = await compute(outcomeOf(dependencies, batch, looked_up))
  await writeRareOutcomes(tx, state)
  await commitWith(writes).catch((cause: unknown) => {
    throw isAnsweredElsewhere(cause) ? new AnsweredElsewhere('a node was faster', { cause }) : cause
  })
  return { answered, unpriced: state.unpriced }
}

/** Decides the messages in their order and builds what is written of them, slice by slice. */
function* outcomeOf(
  dependencies: EngineDependencies,
  batch: readonly CardRequest[],
  { state, seen, sequences }: LoadedBatch,
): Generator<void, { answered: Answered[]; writes: Write[] }> {
  const answers = new Map<string, Known>()
  for (const { identity, fingerprint, answer } of seen) {
    if (answer !== null && fingerprint !== null)
      answers.set(identity, { fingerprint, kept: answer })
  }
  const messages: AnsweredMessage[] = []
  const answerTo = (request: CardRequest): Answered => {
    const known = answers.get(request.identity)
    if (known !== undefined) return repeated(request, known)
    const made = decide(state, request)
    const answer = request.answer(made)
    messages.push({ request, answer, transaction: made.transaction })
    const first = { answer: answer.bytes, is_repeat: false, decision: made }
    const kept = answer.kept_bytes
    answers.set(request.identity, { fingerprint: request.fingerprint, kept })
    return first
  }
  const answered: Answered[] = []
  for (const request of batch) {
    if (answered.length > 0 && answered.length % SLICE === 0) yield
    answered.push(answerTo(request))
  }
  const writes: Write[] = []
  for (const build of outcomeBuilders(dependencies, { state, sequences, messages })) {
    if (batch.length > SLICE) yield
    writes.push(...build())
  }
  return { answered, writes }
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
  state: BatchState
  sequences: AccountSequences
  messages: readonly AnsweredMessage[]
}

/** These are rare enough for round trips of their own. */
async function writeRareOutcomes(tx: Tx, state: BatchState): Promise<void> {
  await writeAttempts(tx, state.failed_cards)
  await markChallengesUsed(tx, state.used_challenges)
  await insertUnpriced(tx, state.unpriced, state.now)
  await writeRefundState(tx, state.refunds)
}

/** The writes of a batch in the order of their locks: purses before the accounts' sequences. */
function outcomeBuilders(
  dependencies: EngineDependencies,
  { state, sequences, messages }: Outcome,
) {
  const { settings, clock, newId, fail } = dependencies
  const { now } = state
  const event_metadata = {
    livemode: settings.mode === 'live',
    request: null,
    stamp: () => {
      const created_at = clock.now()
      return { id: newId('evt', created_at), created_at }
    },
  }
  const builders = {
    batch_transactions: () => newTransactions(state.made),
    batch_postings: () => state.posting.writes(),
    batch_changes: () => changedTransactions(state.changed, now),
    batch_early_reversals: () => newEarlyReversals(state.new_early_reversals, now),
    batch_events: () => eventSetWrites(sequences, state.events, event_metadata),
    batch_messages: () => newMessages(messages),
  } as const
  return Object.entries(builders).map(([failpoint, build]) => () => {
    fail(failpoint as keyof typeof builders)
    return build()
  })
}
