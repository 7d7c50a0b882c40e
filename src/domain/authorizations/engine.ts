import { assert } from '#kernel/assert.ts'
import { ChangedMeanwhile } from '#platform/postgres/changed_meanwhile.ts'
import { type DatabaseLimits, DatabaseUnavailable } from '#platform/postgres/db.ts'
import { type Verdict, type WriteLane, writeLane } from '#platform/postgres/write_lane.ts'
import { computeQueue } from '#platform/runtime/compute_queue.ts'
import { AnsweredElsewhere, runBatch } from './batch.ts'
import type { Unpriced } from './batch_state.ts'
import { findUnlockedCards } from './facts_store.ts'
import { LaneFinder } from './lane_finder.ts'
import type { EngineDependencies } from './load_batch.ts'
import type { Answered, CardRequest } from './request.ts'

/**
 * The authorization engine. Messages of all doors meet here; a batch of them locks its cards,
 * decides each message in the order of arrival over what it has locked, and commits everything
 * that came of them at once. An answer leaves only after its commit.
 */
export type Engine = {
  submit(request: CardRequest): Promise<Answered>
  load(): number
  drain(): Promise<void>
}

type Lane = WriteLane<CardRequest, Answered>

const BATCH_MAX = 512
/** While the database works for one, the other decides. */
const LANES = 2
/** The network has given up by then. */
const WAIT_MAX_MS = 1_000
/** The network waits two seconds: two waits for a lock must fit into that. */
export const ENGINE_LIMITS: DatabaseLimits = {
  statement_ms: 1_000,
  lock_ms: 500,
  idle_in_transaction_ms: 2_000,
}

export function makeEngine(
  dependencies: EngineDependencies,
  { batch_max = BATCH_MAX, lane_count = LANES } = {},
): Engine {
  const compute = computeQueue()
  const lanes = Array.from({ length: lane_count }, () =>
    writeLane<CardRequest, Answered>(
      async (batch, attempt) => {
        const { answered, unpriced } = await dependencies.db.transaction((tx, commitWith) =>
          runBatch(dependencies, tx, { batch, locks_all: attempt > 1, commitWith, compute }),
        )
        for (const waiting of unpriced) alarm(dependencies, waiting)
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
    submit: (request) => submitTo(lanes, finder, request),
    load: () => lanes.reduce((sum, lane) => sum + lane.load(), 0),
    drain: async () => void (await Promise.all(lanes.map((lane) => lane.drain()))),
  }
}

/** An expiry is our own: nobody waits for it with a deadline. */
const waitMaxMs = ({ kind }: CardRequest): number =>
  kind === 'expire' ? Number.POSITIVE_INFINITY : WAIT_MAX_MS

/** Somebody must look: the network has paid, and the card has not. */
function alarm({ log, metrics }: EngineDependencies, { id, waits_for }: Unpriced): void {
  const [counter, message] =
    waits_for === 'dollars'
      ? [metrics.unpriced_clearings, 'a clearing waits for a person to say its dollars']
      : [metrics.held_refunds, 'a refund beyond its purchase waits for approval']
  counter.inc()
  log.error(message, { clearing: id }, undefined)
}

/**
 * All messages of an account go through one lane, in the order they came. Two lanes with cards of
 * one account would contend for its event sequence: 2,400 messages a second instead of 6,000.
 */
function submitTo(
  lanes: readonly Lane[],
  finder: LaneFinder,
  request: CardRequest,
): Promise<Answered> {
  const known = finder.known(request.pan_hash)
  if (known !== undefined) return laneOf(lanes, known).submit(request)
  return new Promise((resolve) => {
    finder.find(request, (account_id) =>
      resolve(laneOf(lanes, account_id ?? request.pan_hash).submit(request)),
    )
  })
}

/** By the last character: an id begins with its time, and ends at random. */
function laneOf(lanes: readonly Lane[], id: string): Lane {
  const lane = lanes[id.charCodeAt(id.length - 1) % lanes.length]
  assert(lane !== undefined, 'a remainder is an index')
  return lane
}

/** The messages whose cards are locked by somebody else at this moment. */
async function findBusy({ db }: EngineDependencies, batch: readonly CardRequest[]) {
  const unlocked = await findUnlockedCards(
    db,
    batch.map(({ pan_hash }) => pan_hash),
  ).catch(() => [])
  const free = new Set(unlocked.map(({ pan_hash }) => pan_hash))
  return batch.filter(({ pan_hash }) => !free.has(pan_hash))
}

/** A lock that was not free in time, or a deadlock. */
const CONTENTION = /^(55P03|57014|40P01|40001)$/

function judge(cause: unknown): Verdict {
  if (cause instanceof AnsweredElsewhere || cause instanceof ChangedMeanwhile) return 'retry'
  if (!(cause instanceof DatabaseUnavailable)) return 'split'
  const code = (cause.cause as { code?: unknown } | undefined)?.code
  return typeof code === 'string' && CONTENTION.test(code) ? 'separate' : 'retry'
}
