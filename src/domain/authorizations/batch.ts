import { systemAuditContext } from '#domain/audit/audit_context.ts'
import { auditSetWrites, type OwnedEntry } from '#domain/audit/record_audit_set.ts'
import { cardResource } from '#domain/cards/card.ts'
import { writeFailedAttempts, writeMerchantLock, writeUsedCard } from '#domain/cards/card_store.ts'
import { makeStamp } from '#domain/context/stamp.ts'
import type { AuditChains } from '#domain/events/account_sequence_store.ts'
import { type AccountSequences, eventSetWrites } from '#domain/events/record_event_set.ts'
import { changedTransactions, newTransactions } from '#domain/transactions/transaction_sets.ts'
import type { CommitWith, Tx } from '#platform/postgres/db.ts'
import type { Write } from '#platform/postgres/write.ts'
import { BUSY, type Busy, Overdue } from '#platform/postgres/write_lane.ts'
import type { ComputeQueue } from '#platform/runtime/compute_queue.ts'
import type { BatchState, PendingClearing } from './batch_state.ts'
import {
  type BatchLocks,
  type EngineDependencies,
  type LoadedBatch,
  loadBatch,
} from './load_batch.ts'
import {
  isAnsweredByOtherNode,
  markChallengesUsed,
  newEarlyReversals,
  newMessages,
  type RespondedMessage,
} from './outcome_store.ts'
import { insertPendingClearings } from './pending_clearing_store.ts'
import { writeRefundState } from './refund_state.ts'
import type { CardRequest, EngineResponse } from './request.ts'
import { Responder } from './responder.ts'

/** Another node responded to one of these messages in the meantime. */
export class AnsweredByOtherNode extends Error {}

type BatchRun = BatchLocks & {
  batch: readonly CardRequest[]
  commitWith: CommitWith
  compute: ComputeQueue
}

/** Runs one batch in one transaction: load, decide, write. A busy card's messages are left out. */
export async function runBatch(
  dependencies: EngineDependencies,
  tx: Tx,
  { batch, commitWith, compute, ...locks }: BatchRun,
): Promise<{
  answered: readonly (EngineResponse | Busy | Overdue)[]
  pending_clearings: readonly PendingClearing[]
}> {
  const looked_up = await loadBatch(dependencies, tx, { batch, ...locks })
  const { state, busy, ready } = looked_up
  if (ready.length === 0) return { answered: batch.map(() => BUSY), pending_clearings: [] }
  // Everything is built before anything is sent, so an exception commits nothing.
  const { answered, writes } = await compute(outcomeOf(dependencies, looked_up))
  await writeRareOutcomes(tx, state)
  await commitWith(writes).catch((cause: unknown) => {
    throw isAnsweredByOtherNode(cause)
      ? new AnsweredByOtherNode('a node was faster', { cause })
      : cause
  })
  const { pending_clearings } = state
  if (busy.size === 0) return { answered, pending_clearings }
  const decided = answered.values()
  const results = batch.map(({ pan_hash }) => {
    return busy.has(pan_hash) ? BUSY : (decided.next().value as EngineResponse | Overdue)
  })
  return { answered: results, pending_clearings }
}

/** Decides the messages in order and builds the writes. Without turns between, 512 took 90 ms. */
function* outcomeOf(
  dependencies: EngineDependencies,
  { ready, state, seen, sequences, audit_chains }: LoadedBatch,
): Generator<void, { answered: (EngineResponse | Overdue)[]; writes: Write[] }> {
  const responder = new Responder(state, seen)
  const answered: (EngineResponse | Overdue)[] = []
  // Locks may have taken long. Read once for the batch, because it is decided within milliseconds.
  const now_ms = dependencies.clock.monotonic()
  for (const request of ready) {
    const isInTime = now_ms < request.deadline_ms
    answered.push(isInTime ? responder.respond(request) : new Overdue('the deadline has passed'))
    yield
  }
  const outcome = { state, sequences, audit_chains, messages: responder.messages }
  const writes: Write[] = []
  for (const build of outcomeBuilders(dependencies, outcome)) {
    writes.push(...build())
    yield
  }
  return { answered, writes }
}

type Outcome = {
  state: BatchState
  sequences: AccountSequences
  audit_chains: AuditChains
  messages: readonly RespondedMessage[]
}

/** Rare enough for separate round trips. */
async function writeRareOutcomes(tx: Tx, state: BatchState): Promise<void> {
  await markChallengesUsed(tx, state.used_challenges)
  await insertPendingClearings(tx, state.pending_clearings, state.now)
  await writeRefundState(tx, state.refunds)
}

/** The writes of a batch in lock order: purses before the accounts' sequence rows. */
function outcomeBuilders(
  dependencies: EngineDependencies,
  { state, sequences, audit_chains, messages }: Outcome,
) {
  const { settings, fail } = dependencies
  const { now } = state
  const event_metadata = {
    livemode: settings.mode === 'live',
    request: null,
    stamp: makeStamp(dependencies, 'evt'),
  }
  const builders = {
    batch_transactions: () => newTransactions(state.made),
    batch_postings: () => state.posting.writes(),
    batch_changes: () => changedTransactions(state.changed, now),
    batch_early_reversals: () => newEarlyReversals(state.new_early_reversals, now),
    batch_cards: () => cardWrites(state),
    batch_events: () => eventSetWrites(sequences, state.events, event_metadata),
    batch_audit: () =>
      auditSetWrites(audit_chains, usedCardEntries(state), systemAuditContext(dependencies)),
    batch_messages: () => newMessages(messages),
  } as const
  return Object.entries(builders).map(([failpoint, build]) => () => {
    fail(failpoint as keyof typeof builders)
    return build()
  })
}

/** The cards are locked since the batch was loaded, so these writes wait for nothing. */
const cardWrites = ({ failed_cards, used_cards, locked_cards, now }: BatchState): Write[] => [
  ...[...failed_cards].map(writeFailedAttempts),
  ...used_cards.map(writeUsedCard),
  ...locked_cards.map((card) => writeMerchantLock(card, now)),
]

const usedCardEntries = ({ used_cards }: BatchState): OwnedEntry[] =>
  used_cards.map((card) => ({
    account_id: card.account_id,
    entry: { action: 'cancel_card', resource: cardResource(card) },
  }))
