import type { Clock } from '#platform/runtime/clock.ts'

/**
 * Micro-batches of writes: commands collect while the previous batch commits and then run as the
 * next batch. There is no timer, so a single command runs immediately.
 */
export type WriteLane<Command, Result> = {
  /** After a rejection nothing was committed, or the outcome is unknown. */
  submit(command: Command): Promise<Result>
  /** The number of unsettled commands. */
  load(): number
  /** Resolves when all submitted commands are settled. */
  drain(): Promise<void>
}

/** Instead of a result: another transaction holds a lock that the command needs. */
export const BUSY = Symbol('busy')
export type Busy = typeof BUSY

/** The command waited too long and was not run. */
export class Overdue extends Error {}

export type WriteLaneOptions<Command> = {
  clock: Pick<Clock, 'monotonic' | 'sleep'>
  batch_max: number
  /** A command that has waited longer is rejected without running: its caller has given up. */
  waitMaxMs(command: Command): number
  judge(cause: unknown): Verdict
  /** Returns the commands that would have to wait for a lock now. */
  findBusy(commands: readonly Command[]): Promise<readonly Command[]>
}

/**
 * The way a failed batch continues. Retry: its commands are fine, so the whole batch runs again.
 * Separate: a lock was not free in time, so the commands that need it run on their own. Split: one
 * command is to blame, and halving the batch finds it.
 */
export type Verdict = 'retry' | 'separate' | 'split'

type PendingCommand<Command, Result> = {
  command: Command
  since_ms: number
  resolve(answer: Result): void
  reject(cause: unknown): void
}

/** Attempts count from 1. A run that skips busy commands does not wait for locks. */
type FlushRun = { attempt: number; skips_busy: boolean }

/**
 * Commits a batch and returns its results in order, or throws for all of it. A command that became
 * overdue in the meantime is left out, and its result is an Overdue.
 */
export type Flush<Command, Result> = (
  batch: readonly Command[],
  run: FlushRun,
) => Promise<readonly (Result | Busy | Overdue)[]>

/** The second attempt takes every lock; the third is for a database that is recovering. */
const ATTEMPTS_MAX = 3
/**
 * A busy command joins the following batches, so the others don't wait for its lock. After this
 * time the batch waits with it, or a lock that is taken again and again would never be free for it.
 */
const BUSY_MAX_MS = 100
/** If all commands are busy, the next batch starts this much later. */
const BUSY_PAUSE_MS = 5
/** The commands of a separated batch begin with the attempt that takes every lock. */
const LOCKING_ATTEMPT = 2

export function writeLane<Command, Result>(
  flush: Flush<Command, Result>,
  options: WriteLaneOptions<Command>,
): WriteLane<Command, Result> {
  const { clock, batch_max, waitMaxMs } = options
  let pending: PendingCommand<Command, Result>[] = []
  let unsettled = 0
  let running: Promise<void> | null = null

  const settle = makeSettler(flush, options)

  const isInTime = (one: PendingCommand<Command, Result>): boolean => {
    if (clock.monotonic() - one.since_ms <= waitMaxMs(one.command)) return true
    one.reject(new Overdue('the command waited too long'))
    return false
  }

  const run = async (): Promise<void> => {
    while (pending.length > 0) {
      const taken = pending.slice(0, batch_max)
      pending = pending.slice(batch_max)
      const batch = taken.filter(isInTime)
      const busy = batch.length === 0 ? [] : await settle(batch)
      unsettled -= taken.length - busy.length
      // First, so that commands that need the same lock stay in order.
      pending = [...busy, ...pending]
      if (busy.length > 0 && pending.length === busy.length) await clock.sleep(BUSY_PAUSE_MS)
    }
    running = null
  }

  return {
    submit: (command) =>
      new Promise((resolve, reject) => {
        pending.push({ command, since_ms: clock.monotonic(), resolve, reject })
        unsettled += 1
        // Starts in the next microtask, so commands from one socket read share a batch.
        running ??= Promise.resolve().then(run)
      }),
    load: () => unsettled,
    drain: async () => {
      while (running !== null) await running
    },
  }
}

type Batch<Command, Result> = readonly PendingCommand<Command, Result>[]

/** Settles a batch: as a whole if possible, otherwise in parts. Returns its busy commands. */
function makeSettler<Command, Result>(
  flush: Flush<Command, Result>,
  { clock, judge, findBusy }: WriteLaneOptions<Command>,
): (batch: Batch<Command, Result>) => Promise<Batch<Command, Result>> {
  const canWait = ({ since_ms }: PendingCommand<Command, Result>) =>
    clock.monotonic() - since_ms < BUSY_MAX_MS
  const flushWithRetries = async (batch: Batch<Command, Result>, first_attempt: number) => {
    const commands = batch.map((one) => one.command)
    for (let attempt = first_attempt; ; attempt += 1) {
      try {
        return await flush(commands, { attempt, skips_busy: attempt === 1 && batch.every(canWait) })
      } catch (cause) {
        if (judge(cause) !== 'retry' || attempt === ATTEMPTS_MAX) throw cause
      }
    }
  }
  const settleSeparately = async (batch: Batch<Command, Result>) => {
    const waiting = new Set(await findBusy(batch.map((one) => one.command)))
    const isBusy = (one: PendingCommand<Command, Result>) => waiting.has(one.command)
    for (const part of [batch.filter((one) => !isBusy(one)), batch.filter(isBusy)]) {
      if (part.length > 0) await settle(part, LOCKING_ATTEMPT)
    }
    return []
  }
  const settle = async (
    batch: Batch<Command, Result>,
    first_attempt = 1,
  ): Promise<Batch<Command, Result>> => {
    try {
      const results = await flushWithRetries(batch, first_attempt)
      return batch.filter((one, at) => {
        const result = results[at] as Result | Busy | Overdue
        if (result === BUSY) return true
        if (result instanceof Overdue) one.reject(result)
        else one.resolve(result)
        return false
      })
    } catch (cause) {
      const verdict = judge(cause)
      if (verdict === 'separate' && first_attempt === 1) return settleSeparately(batch)
      if (verdict !== 'split' || batch.length === 1) {
        for (const one of batch) one.reject(cause)
        return []
      }
      const half = batch.length >> 1
      const busy = await settle(batch.slice(0, half))
      return [...busy, ...(await settle(batch.slice(half)))]
    }
  }
  return settle
}
