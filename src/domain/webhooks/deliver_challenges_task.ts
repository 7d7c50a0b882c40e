import { noteInlineDecision } from '#domain/authorizations/challenge.ts'
import {
  type ChallengeRow,
  claimChallenges,
  expireChallenges,
  hasPendingChallenge,
  setNextAttempt,
} from '#domain/authorizations/challenge_store.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { type AttemptOutcome, GONE, sendAttempt } from './attempt.ts'
import { markDelivered } from './attempt_store.ts'
import { disableWebhook } from './disable_webhook.ts'
import type { WebhookRow } from './webhook.ts'
import type { DeliveryDependencies } from './webhook_dependencies.ts'
import { findChallengeWebhooks } from './webhook_store.ts'

/** The customer is waiting at checkout, so a challenge is sent right after it was opened. */
const EVERY_MS = 250
/** Opening a challenge commits, which ends idleness; only retries wait this long. */
const IDLE_MS = 3_000
const CLAIM_MAX = 100
/** Longer than the attempt's timeout; after a crash the row is due again. */
const LEASE_MS = 20_000
/** The delays after failed attempts; the usual schedule would outlast the challenge. */
const DELAYS_MS = [5_000, 10_000, 30_000, 45_000]

/** Starts the due attempts without waiting for them, as deliver_webhooks does. */
export function deliverChallengesTask(dependencies: DeliveryDependencies): Task {
  const { db, clock, log } = dependencies
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
        deliver(dependencies, challenge).catch((cause: unknown) =>
          log.error('could not deliver a challenge', { challenge_id: challenge.id }, cause),
        )
      }
    },
  }
}

/** Sends the challenge to every webhook subscribed to it. The first decision counts. */
async function deliver(dependencies: DeliveryDependencies, challenge: ChallengeRow): Promise<void> {
  const { db, clock } = dependencies
  const subscribed = await findChallengeWebhooks(db, challenge.account_id)
  const webhooks = subscribed.filter(
    ({ grant_id }) => grant_id === null || challenge.asked_grants.includes(grant_id),
  )
  const outcomes = await Promise.all(
    webhooks.map(async (webhook) => {
      const outcome = await sendAttempt(dependencies, {
        ...webhook,
        webhook_id: webhook.id,
        event_id: eventIdOf(challenge),
        event_type: 'three_ds.challenge',
        body: challenge.body,
      })
      const decision = parseDecision(outcome, challenge.id)
      if (decision !== null) await noteInlineDecision(dependencies, { id: challenge.id, decision })
      await noteOutcome(dependencies, webhook, outcome)
      return outcome
    }),
  )
  // No retry after a success: the receiver may send its decision later.
  const isDelivered = outcomes.some(({ status }) => status === 'succeeded')
  const delay_ms = isDelivered ? undefined : DELAYS_MS[challenge.attempts - 1]
  const next = delay_ms === undefined ? null : new Date(clock.now().getTime() + delay_ms)
  await setNextAttempt(db, challenge, next)
}

/**
 * A success ends a series of failures. A failure does not begin one: a challenge is sent for 90
 * seconds only, and until the next one comes nothing could end the series.
 */
async function noteOutcome(
  dependencies: DeliveryDependencies,
  { account_id, id, url }: WebhookRow,
  { status, response_status, created_at }: AttemptOutcome,
): Promise<void> {
  const { db, clock } = dependencies
  if (status === 'succeeded') await markDelivered(db, account_id, id, created_at)
  if (response_status !== GONE) return
  const now = clock.now()
  await disableWebhook(dependencies, { account_id, id, url, reason: 'endpoint_gone', now })
}

function eventIdOf({ body }: ChallengeRow): string {
  return (JSON.parse(body) as { id: string }).id
}

/** A successful response may contain the decision. */
function parseDecision(
  { status, response_body }: AttemptOutcome,
  challenge_id: string,
): 'approve' | 'decline' | null {
  if (status !== 'succeeded' || response_body === null) return null
  const response = parseObject(new TextDecoder().decode(response_body))
  if (response === null || response['challenge_id'] !== challenge_id) return null
  const { decision } = response
  return decision === 'approve' || decision === 'decline' ? decision : null
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
