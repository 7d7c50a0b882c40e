import type { Clock } from '#platform/runtime/clock.ts'

/**
 * Micro-batches of writes: commands gather while the batch before them is committed, and go out
 * together the moment it has returned. There is no timer, so a command that comes alone is sent
 * alone and at once.
 */
export type WriteLane<Command, Answer> = {
  /** Rejects with what stopped it; then nothing of it was committed, or that is not known. */
  submit(command: Command): Promise<Answer>
  /** Commands that have not been answered yet. */
  load(): number
  /** Resolves when everything submitted so far has been answered. */
  drain(): Promise<void>
}

/** A command that waited too long to be begun. Nothing was done about it. */
export class Overdue extends Error {}

export type WriteLaneOptions<Command> = {
  clock: Pick<Clock, 'monotonic'>
  batch_max: number
  /** A command that waited longer is refused before it is begun: its caller has given up. */
  waitMaxMs(command: Command): number
  judge(cause: unknown): Verdict
  /** The commands that would have to wait for a lock now. */
  findBusy(commands: readonly Command[]): Promise<readonly Command[]>
}

/**
 * What to do with a failed batch. Retry: nothing is wrong with its commands, so the whole batch is
 * run again. Separate: a lock was not free in time, and only those who need it shall wait for it.
 * Split: one of the commands is to blame, and halving the batch finds it.
 */
export type Verdict = 'retry' | 'separate' | 'split'

type Waiting<Command, Answer> = {
  command: Command
  since_ms: number
  resolve(answer: Answer): void
  reject(cause: unknown): void
}

/**
 * Commits a batch as one and answers its commands in their order; throws for the whole batch. The
 * first attempt at a batch is number 1.
 */
export type Flush<Command, Answer> = (
  batch: readonly Command[],
  attempt: number,
) => Promise<readonly Answer[]>

/** The second attempt takes every lock; a third is for a database that is just coming back. */
const ATTEMPTS_MAX = 3
/** A part of a batch that could not get its locks begins with the attempt that takes them all. */
const SEPARATED = 2

export function writeLane<Command, Answer>(
  flush: Flush<Command, Answer>,
  options: WriteLaneOptions<Command>,
): WriteLane<Command, Answer> {
  const { clock, batch_max, waitMaxMs } = options
  let gathered: Waiting<Command, Answer>[] = []
  let unanswered = 0
  let underWay: Promise<void> | null = null

  const settle = settlerOf(flush, options)

  const inTime = (one: Waiting<Command, Answer>): boolean => {
    if (clock.monotonic() - one.since_ms <= waitMaxMs(one.command)) return true
    one.reject(new Overdue('it waited too long to be begun'))
    return false
  }

  const run = async (): Promise<void> => {
    while (gathered.length > 0) {
      const taken = gathered.slice(0, batch_max)
      gathered = gathered.slice(batch_max)
      const batch = taken.filter(inTime)
      if (batch.length > 0) await settle(batch)
      unanswered -= taken.length
    }
    underWay = null
  }

  return {
    submit: (command) =>
      new Promise((resolve, reject) => {
        gathered.push({ command, since_ms: clock.monotonic(), resolve, reject })
        unanswered += 1
        // Begun on the next turn: what arrived in the same read of a socket goes out together.
        underWay ??= Promise.resolve().then(run)
      }),
    load: () => unanswered,
    drain: async () => {
      while (underWay !== null) await underWay
    },
  }
}

type Batch<Command, Answer> = readonly Waiting<Command, Answer>[]

/** Answers a batch: as a whole if possible, otherwise in parts. */
function settlerOf<Command, Answer>(
  flush: Flush<Command, Answer>,
  { judge, findBusy }: WriteLaneOptions<Command>,
): (batch: Batch<Command, Answer>) => Promise<void> {
  const flushed = async (batch: Batch<Command, Answer>, first_attempt: number) => {
    const commands = batch.map((one) => one.command)
    for (let attempt = first_attempt; ; attempt += 1) {
      try {
        return await flush(commands, attempt)
      } catch (cause) {
        if (judge(cause) !== 'retry' || attempt === ATTEMPTS_MAX) throw cause
      }
    }
  }
  const settleApart = async (batch: Batch<Command, Answer>): Promise<void> => {
    const waiting = new Set(await findBusy(batch.map((one) => one.command)))
    const isBusy = (one: Waiting<Command, Answer>) => waiting.has(one.command)
    for (const part of [batch.filter((one) => !isBusy(one)), batch.filter(isBusy)]) {
      if (part.length > 0) await settle(part, SEPARATED)
    }
  }
  const settle = async (batch: Batch<Command, Answer>, first_attempt = 1): Promise<void> => {
    try {
      const answers = await flushed(batch, first_attempt)
      for (const [at, one] of batch.entries()) one.resolve(answers[at] as Answer)
    } catch (cause) {
      const verdict = judge(cause)
      if (verdict === 'separate' && first_attempt === 1) return settleApart(batch)
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
