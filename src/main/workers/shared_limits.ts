import type { RateLimiter, RatePolicy, RateVerdict } from '#domain/risk/rate_limit.ts'
import type { SharedLimits } from '#operations/runtime.ts'
import type { Channel } from '#platform/runtime/process_channel.ts'
import type { ParentRequests, RateQuestion } from './messages.ts'

/** The limits of a worker: the parent counts, so a caller has one limit over all workers. */
export function limitsOfParent(parent: Channel<ParentRequests>): SharedLimits {
  return {
    limiter: limiterOfParent((questions) => parent.request('decide_rates', questions)),
    open_streams: {
      open: (limits) => parent.request('open_stream', limits),
      close: (limits) => parent.notify('close_stream', limits),
    },
  }
}

type PendingQuestion = {
  question: RateQuestion
  resolve(verdict: RateVerdict): void
  reject(cause: unknown): void
}

/** Sends the questions of one turn of the event loop together: a message costs more than one. */
export function limiterOfParent(
  decide: (questions: readonly RateQuestion[]) => Promise<RateVerdict[]>,
): RateLimiter {
  let waiting: PendingQuestion[] = []
  const send = async () => {
    const batch = waiting
    waiting = []
    try {
      const verdicts = await decide(batch.map(({ question }) => question))
      for (const [at, { resolve }] of batch.entries()) resolve(verdicts[at] as RateVerdict)
    } catch (cause) {
      for (const { reject } of batch) reject(cause)
    }
  }
  const ask = (subject: string, policies: readonly RatePolicy[], cost: 0 | 1) =>
    new Promise<RateVerdict>((resolve, reject) => {
      if (waiting.length === 0) setImmediate(() => void send())
      waiting.push({ question: { subject, policies, cost }, resolve, reject })
    })
  return {
    take: (subject, policies) => ask(subject, policies, 1),
    peek: (subject, policies) => ask(subject, policies, 0),
    fault: () => null,
    close: async () => undefined,
  }
}
