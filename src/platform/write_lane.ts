import type { Clock } from './clock.ts'

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

export type WriteLaneOptions = {
  clock: Pick<Clock, 'monotonic'>
  batch_max: number
  /** Beyond this a command is refused unbegun: whoever asked has stopped waiting. */
  wait_max_ms: number
  judge(cause: unknown): Verdict
}

/**
 * What a failed batch is worth. Retry: the same again may do better at once, and if it does not,
 * nothing will. Split: one of its commands is to blame, and halves find it.
 */
export type Verdict = 'retry' | 'split'

type Waiting<Command, Answer> = {
  command: Command
  since_ms: number
  resolve(answer: Answer): void
  reject(cause: unknown): void
}

/** Commits a batch as one and answers its commands in their order; throws for the whole batch. */
export type Flush<Command, Answer> = (
  batch: readonly Command[],
  is_retry: boolean,
) => Promise<readonly Answer[]>

export function writeLane<Command, Answer>(
  flush: Flush<Command, Answer>,
  options: WriteLaneOptions,
): WriteLane<Command, Answer> {
  const { clock, batch_max, wait_max_ms } = options
  let gathered: Waiting<Command, Answer>[] = []
  let unanswered = 0
  let underWay: Promise<void> | null = null

  const settle = settlerOf(flush, options)

  const inTime = (one: Waiting<Command, Answer>): boolean => {
    if (clock.monotonic() - one.since_ms <= wait_max_ms) return true
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

/** Answers a batch: as a whole if it can be had so, else in halves down to the one to blame. */
function settlerOf<Command, Answer>(
  flush: Flush<Command, Answer>,
  { judge }: WriteLaneOptions,
): (batch: readonly Waiting<Command, Answer>[]) => Promise<void> {
  const flushed = async (batch: readonly Waiting<Command, Answer>[]) => {
    const commands = batch.map((one) => one.command)
    try {
      return await flush(commands, false)
    } catch (cause) {
      if (judge(cause) === 'split') throw cause
      return flush(commands, true)
    }
  }
  const settle = async (batch: readonly Waiting<Command, Answer>[]): Promise<void> => {
    try {
      const answers = await flushed(batch)
      for (const [at, one] of batch.entries()) one.resolve(answers[at] as Answer)
    } catch (cause) {
      if (batch.length === 1 || judge(cause) === 'retry') {
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
