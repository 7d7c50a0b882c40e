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

/** The command waited too long and was not run. */
export class Overdue extends Error {}

export type WriteLaneOptions<Command> = {
  clock: Pick<Clock, 'monotonic'>
  batch_max: number
  /** A command that has waited longer is rejected without running: its caller has given up. */
  waitMaxMs(command: Command): number
  judge(cause: unknown): Verdict
  /** Returns the commands that would have to wait for a lock now. */
  findBusy(commands: readonly Command[]): Promise<readonly Command[]>
}

/**
 * How a failed batch continues. Retry: its commands are fine, so the whole batch runs again.
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

/**
 * Commits a batch and returns its results in order, or throws for all of it. Attempts count from 1.
 */
export type Flush<Command, Result> = (
  batch: readonly Command[],
  attempt: number,
) => Promise<readonly Result[]>

/** The second attempt takes every lock; the third is for a database that is recovering. */
const ATTEMPTS_MAX = 3
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
      if (batch.length > 0) await settle(batch)
      unsettled -= taken.length
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

/** Settles a batch: as a whole if possible, otherwise in parts. */
function makeSettler<Command, Result>(
  flush: Flush<Command, Result>,
  { judge, findBusy }: WriteLaneOptions<Command>,
): (batch: Batch<Command, Result>) => Promise<void> {
  const flushWithRetries = async (batch: Batch<Command, Result>, first_attempt: number) => {
    const commands = batch.map((one) => one.command)
    for (let attempt = first_attempt; ; attempt += 1) {
      try {
        return await flush(commands, attempt)
      } catch (cause) {
        if (judge(cause) !== 'retry' || attempt === ATTEMPTS_MAX) throw cause
      }
    }
  }
  const settleSeparately = async (batch: Batch<Command, Result>): Promise<void> => {
    const waiting = new Set(await findBusy(batch.map((one) => one.command)))
    const isBusy = (one: PendingCommand<Command, Result>) => waiting.has(one.command)
    for (const part of [batch.filter((one) => !isBusy(one)), batch.filter(isBusy)]) {
      if (part.length > 0) await settle(part, LOCKING_ATTEMPT)
    }
  }
  const settle = async (batch: Batch<Command, Result>, first_attempt = 1): Promise<void> => {
    try {
      const answers = await flushWithRetries(batch, first_attempt)
      for (const [at, one] of batch.entries()) one.resolve(answers[at] as Result)
    } catch (cause) {
      const verdict = judge(cause)
      if (verdict === 'separate' && first_attempt === 1) return settleSeparately(batch)
      if (verdict !== 'split' || batch.length === 1) {
        for (const one of batch) one.reject(cause)
        return
      }
      const half = batch.length >> 1
      await settle(batch.slice(0, half))
      await settle(batch.slice(half))
    }
  }
  return settle
}
