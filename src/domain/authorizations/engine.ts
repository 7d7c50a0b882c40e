import { findUnlockedCards } from '#domain/cards/lock_cards.ts'
import { assert } from '#kernel/assert.ts'
import { ConcurrentUpdate } from '#platform/postgres/concurrent_update.ts'
import { type DatabaseLimits, DatabaseUnavailable } from '#platform/postgres/db.ts'
import { type Verdict, type WriteLane, writeLane } from '#platform/postgres/write_lane.ts'
import { computeQueue } from '#platform/runtime/compute_queue.ts'
import { AnsweredByOtherNode, runBatch } from './batch.ts'
import type { PendingClearing } from './batch_state.ts'
import { LaneFinder } from './lane_finder.ts'
import type { EngineDependencies } from './load_batch.ts'
import type { CardRequest, EngineResponse } from './request.ts'

/**
 * The authorization engine. A batch of messages from all doors locks its cards, decides each
 * message in the order of arrival, and commits all results in one transaction. Responses are sent
 * after the commit.
 */
export type Engine = {
  /** `submitToOtherCell` decides a message whose card is not in this database. */
  submit(
    request: CardRequest,
    submitToOtherCell?: () => Promise<EngineResponse>,
  ): Promise<EngineResponse>
  load(): number
  drain(): Promise<void>
}

type Lane = WriteLane<CardRequest, EngineResponse>

const BATCH_MAX = 512
/** While one lane waits for the database, the other decides. */
const LANES = 2
/** The network times out by then. */
const WAIT_MAX_MS = 1_000
/** The network waits two seconds, and two lock waits must fit into that. */
export const ENGINE_LIMITS: DatabaseLimits = {
  statement_ms: 1_000,
  lock_ms: 500,
  idle_in_transaction_ms: 2_000,
}

export function makeEngine(
  dependencies: EngineDependencies,
  { batch_max = BATCH_MAX, lane_count = LANES } = {},
): Engine {
  const compute = computeQueue(dependencies.clock)
  const lanes = Array.from({ length: lane_count }, () =>
    writeLane<CardRequest, EngineResponse>(
      async (batch, { attempt, skips_busy }) => {
        const locks = { locks_all: attempt > 1, skips_busy }
        const { answered, pending_clearings } = await dependencies.db.transaction(
          (tx, commitWith) => runBatch(dependencies, tx, { batch, commitWith, compute, ...locks }),
        )
        for (const waiting of pending_clearings) alertOperator(dependencies, waiting)
        return answered
      },
      {
        clock: dependencies.clock,
        batch_max,
        waitMaxMs,
        judge,
        findBusy: (batch) => findBusy(dependencies, batch),
      },
    ),
  )
  const finder = new LaneFinder(dependencies.db)
  return {
    submit: (request, submitToOtherCell) => submitTo({ lanes, finder, submitToOtherCell }, request),
    load: () => lanes.reduce((sum, lane) => sum + lane.load(), 0),
    drain: async () => void (await Promise.all(lanes.map((lane) => lane.drain()))),
  }
}

/** Expiries are internal and have no deadline. */
const waitMaxMs = ({ kind }: CardRequest): number =>
  kind === 'expire' ? Number.POSITIVE_INFINITY : WAIT_MAX_MS

/** Alerts an operator: the network has paid, but the card has not been debited. */
function alertOperator(
  { log, metrics }: EngineDependencies,
  { id, waits_for }: PendingClearing,
): void {
  const [counter, message] =
    waits_for === 'conversion'
      ? [metrics.pending_conversions, 'a foreign clearing awaits conversion by an operator']
      : [metrics.held_refunds, 'a refund beyond its purchase waits for approval']
  counter.inc()
  log.error(message, { clearing: id }, undefined)
}

type LaneRouting = {
  lanes: readonly Lane[]
  finder: LaneFinder
  submitToOtherCell: (() => Promise<EngineResponse>) | undefined
}

/**
 * All messages of an account go through one lane, in order of arrival. Two lanes with cards of
 * one account would contend for its event sequence: 2,400 messages a second instead of 6,000.
 */
function submitTo(
  { lanes, finder, submitToOtherCell }: LaneRouting,
  request: CardRequest,
): Promise<EngineResponse> {
  const known = finder.known(request.pan_hash)
  if (known !== undefined) return laneOf(lanes, known).submit(request)
  return new Promise((resolve, reject) => {
    finder.find(request, (account_id) => {
      if (submitToOtherCell !== undefined && typeof account_id !== 'string') {
        // After a failed look-up it may be a card of either cell, and only its own may decide.
        if (account_id === null) return resolve(submitToOtherCell())
        return reject(new DatabaseUnavailable("the card's account could not be looked up"))
      }
      resolve(laneOf(lanes, account_id ?? request.pan_hash).submit(request))
    })
  })
}

/**
 * By the last character, because ids begin with their time and end randomly. The hash is empty if a
 * processor's token names no card.
 */
function laneOf(lanes: readonly Lane[], id: string): Lane {
  const last = id === '' ? 0 : id.charCodeAt(id.length - 1)
  const lane = lanes[last % lanes.length]
  assert(lane !== undefined, 'a remainder is an index')
  return lane
}

/** The messages whose cards another transaction holds locked. */
async function findBusy({ db }: EngineDependencies, batch: readonly CardRequest[]) {
  const unlocked = await findUnlockedCards(
    db,
    batch.map(({ pan_hash }) => pan_hash),
  ).catch(() => [])
  const free = new Set(unlocked.map(({ pan_hash }) => pan_hash))
  return batch.filter(({ pan_hash }) => !free.has(pan_hash))
}

/** Lock time-out, cancelled statement, deadlock, serialization failure. */
const CONTENTION = /^(55P03|57014|40P01|40001)$/

function judge(cause: unknown): Verdict {
  if (cause instanceof AnsweredByOtherNode || cause instanceof ConcurrentUpdate) return 'retry'
  if (!(cause instanceof DatabaseUnavailable)) return 'split'
  const code = (cause.cause as { code?: unknown } | undefined)?.code
  return typeof code === 'string' && CONTENTION.test(code) ? 'separate' : 'retry'
}
