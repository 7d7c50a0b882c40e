import { assert } from '#kernel/assert.ts'
import { ChangedMeanwhile } from '#platform/changed_meanwhile.ts'
import { DatabaseUnavailable } from '#platform/db.ts'
import { type Verdict, type WriteLane, writeLane } from '#platform/write_lane.ts'
import { AnsweredElsewhere, runBatch } from './batch.ts'
import type { EngineSeams } from './look_up.ts'
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

export function makeEngine(
  seams: EngineSeams,
  { batch_max = BATCH_MAX, lane_count = LANES } = {},
): Engine {
  const lanes = Array.from({ length: lane_count }, () =>
    writeLane<CardRequest, Answered>(
      async (batch, is_retry) => {
        const { answered, unpriced } = await seams.db.transaction((tx, commitBehind) =>
          runBatch(seams, tx, { batch, locks_all: is_retry, commitBehind }),
        )
        for (const { id } of unpriced) alarm(seams, id)
        return answered
      },
      { clock: seams.clock, batch_max, wait_max_ms: WAIT_MAX_MS, judge },
    ),
  )
  return {
    submit: (request) => laneOf(lanes, request).submit(request),
    load: () => lanes.reduce((sum, lane) => sum + lane.load(), 0),
    drain: async () => void (await Promise.all(lanes.map((lane) => lane.drain()))),
  }
}

/** Somebody must look: the network has paid, and the card has not. */
function alarm({ log, metrics }: EngineSeams, id: string): void {
  metrics.unpriced_clearings.inc()
  log.error('a clearing waits for a person to say its dollars', { clearing: id }, undefined)
}

/** All messages of a card go the same way, so that they are decided in the order they came. */
function laneOf(lanes: readonly Lane[], { pan_hash }: CardRequest): Lane {
  const lane = lanes[(pan_hash.codePointAt(0) ?? 0) % lanes.length]
  assert(lane !== undefined, 'a remainder is an index')
  return lane
}

/** Locks that are not to be had, and deadlocks: one command's card is to blame. */
const CONTENTION = /^(55P03|57014|40P01|40001)$/

function judge(cause: unknown): Verdict {
  if (cause instanceof AnsweredElsewhere || cause instanceof ChangedMeanwhile) return 'retry'
  if (!(cause instanceof DatabaseUnavailable)) return 'split'
  const code = (cause.cause as { code?: unknown } | undefined)?.code
  return typeof code === 'string' && CONTENTION.test(code) ? 'split' : 'retry'
}
