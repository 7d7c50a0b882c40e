import { noteInlineDecision } from '#domain/authorizations/challenge.ts'
import {
  type ChallengeRow,
  claimChallenges,
  expireChallenges,
  hasPendingChallenge,
  setNextAttempt,
} from '#domain/authorizations/challenge_store.ts'
import type { Dependencies } from '#domain/context/context.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { attempt, type Outcome } from './attempt.ts'
import { findChallengeWebhooks } from './webhook_store.ts'

/** Somebody stands at a till: a challenge is sent a moment after it was opened. */
const EVERY_MS = 250
/** A challenge is opened in a transaction; only repeated attempts wait for this. */
const IDLE_MS = 3_000
const CLAIM_MAX = 100
/** Longer than the slowest answer; after a crash the row is due again. */
const LEASE_MS = 20_000
/** After each failed attempt; the usual schedule would outlive the challenge. */
const DELAYS_MS = [5_000, 10_000, 30_000, 45_000]

type Tools = Pick<
  Dependencies,
  'db' | 'clock' | 'random' | 'newId' | 'keys' | 'http' | 'log' | 'settings'
>

/** A pass starts what is due and does not wait for it, as with every delivery. */
export function deliverChallengesTask(tools: Tools): Task {
  const { db, clock, log } = tools
  return {
    name: 'deliver_challenges',
    every_ms: EVERY_MS,
    idle_ms: IDLE_MS,
    run: async () => {
      if (!(await hasPendingChallenge(db))) return
      const now = clock.now()
      await expireChallenges(db, now)
      const leased_until = new Date(now.getTime() + LEASE_MS)
      const due = await claimChallenges(db, { now, leased_until, limit: CLAIM_MAX })
      for (const challenge of due) {
        deliver(tools, challenge).catch((cause: unknown) =>
          log.error('a challenge was not delivered', { challenge_id: challenge.id }, cause),
        )
      }
    },
  }
}

/** To every subscription that names it; the first decision counts, wherever it comes from. */
async function deliver(tools: Tools, challenge: ChallengeRow): Promise<void> {
  const { db, clock } = tools
  const listening = await findChallengeWebhooks(db, challenge.account_id)
  const webhooks = listening.filter(
    ({ grant_id }) => grant_id === null || challenge.asked_grants.includes(grant_id),
  )
  const outcomes = await Promise.all(
    webhooks.map(async (webhook) => {
      const outcome = await attempt(tools, {
        ...webhook,
        webhook_id: webhook.id,
        event_id: eventIdIn(challenge),
        event_type: 'three_ds.challenge',
        body: challenge.body,
      })
      const decision = decisionIn(outcome, challenge.id)
      if (decision !== null) await noteInlineDecision(tools, { id: challenge.id, decision })
      return outcome
    }),
  )
  // Heard is enough: whoever took it may answer later.
  const isHeard = outcomes.some(({ status }) => status === 'succeeded')
  const delay_ms = isHeard ? undefined : DELAYS_MS[challenge.attempts - 1]
  const next = delay_ms === undefined ? null : new Date(clock.now().getTime() + delay_ms)
  await setNextAttempt(db, challenge, next)
}

function eventIdIn({ body }: ChallengeRow): string {
  return (JSON.parse(body) as { id: string }).id
}

/** A success without a decision only says that it was heard. */
function decisionIn(outcome: Outcome, challenge_id: string): 'approve' | 'decline' | null {
  if (outcome.status !== 'succeeded' || outcome.response_excerpt === null) return null
  const said = jsonOrNull(outcome.response_excerpt)
  if (said === null || said['challenge_id'] !== challenge_id) return null
  const { decision } = said
  return decision === 'approve' || decision === 'decline' ? decision : null
}

function jsonOrNull(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
