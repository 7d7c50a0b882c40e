import {
  expireChallengesOfGrant,
  expirePendingChallenges,
} from '#domain/authorizations/challenge_store.ts'
import { expireApprovalsOfGrant } from '#domain/budgets/approval_store.ts'
import type { NewAuditEntry } from '#domain/context/context.ts'
import { markRevoked } from '#domain/credentials/grant_store.ts'
import { disableWebhooksOfGrant } from '#domain/webhooks/disable_webhook.ts'
import type { Tx } from '#platform/postgres/db.ts'

/**
 * Ends a grant with its tokens and webhook subscriptions. Returns the entries for the account's
 * audit log; none if the grant had already ended.
 */
export async function endGrant(tx: Tx, id: string, now: Date): Promise<NewAuditEntry[]> {
  if (!(await markRevoked(tx, id, now))) return []
  await expireApprovalsOfGrant(tx, id, now)
  const entries = await endGrantWebhooks(tx, id, now)
  return [{ action: 'oauth.revoked', resource: { type: 'grant', id } }, ...entries]
}

/**
 * Disables the subscriptions that were made with the grant's tokens and drops their deliveries. An
 * agent that received a challenge knows its response URL, so open challenges are declined and the
 * approvals that no purchase has used yet are void.
 */
export async function endGrantWebhooks(
  tx: Tx,
  grant_id: string,
  now: Date,
): Promise<NewAuditEntry[]> {
  const disabled = await disableWebhooksOfGrant(tx, grant_id, now)
  for (const { account_id, events } of disabled) {
    if (events.includes('three_ds.challenge')) await expirePendingChallenges(tx, account_id)
  }
  await expireChallengesOfGrant(tx, grant_id)
  return disabled.map(({ id }) => ({
    action: 'webhook.disabled',
    resource: { type: 'webhook', id },
  }))
}
