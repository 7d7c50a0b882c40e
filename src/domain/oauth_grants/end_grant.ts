import type { NewAuditEntry } from '#domain/context/context.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { markRevoked } from './grant_store.ts'

/**
 * Ends a grant with its tokens and webhook subscriptions. Answers with what to write into the
 * account's audit log; nothing where the grant was over before.
 */
export async function endGrant(tx: Tx, id: string, now: Date): Promise<NewAuditEntry[]> {
  if (!(await markRevoked(tx, id, now))) return []
  const entries = await endGrantWebhooks(tx, id, now)
  return [{ action: 'oauth.revoked', resource: { type: 'grant', id } }, ...entries]
}

type Ended = { account_id: string; id: string; events: string[] }

/**
 * Disables the subscriptions that were made with the grant's tokens, and drops what waits for them.
 * An agent that was asked about purchases knows where to approve them, so those that are open are
 * declined, and its approvals that no purchase has used yet are void.
 */
export async function endGrantWebhooks(
  tx: Tx,
  grant_id: string,
  now: Date,
): Promise<NewAuditEntry[]> {
  const ended = await tx.rows<Ended>(
    // Locked as if they were deleted: deliveries being written are finished, or find them disabled.
    `with locked as (
       select account_id, id from webhooks
        where grant_id = $1 and status = 'enabled' order by id for update)
     update webhooks w
        set status = 'disabled', disabled_reason = 'grant_ended', version = version + 1,
            updated_at = $2
       from locked l
      where w.account_id = l.account_id and w.id = l.id
  returning w.account_id, w.id, w.events`,
    [grant_id, now],
  )
  for (const { account_id, id, events } of ended) {
    await tx.run('delete from deliveries where account_id = $1 and webhook_id = $2', [
      account_id,
      id,
    ])
    await tx.rows(`select pg_notify('florin_deliveries', $1)`, [id])
    if (events.includes('three_ds.challenge')) await declineOpenChallenges(tx, account_id)
  }
  await voidGrantApprovals(tx, grant_id)
  return ended.map(({ id }) => ({
    action: 'webhook.disabled',
    resource: { type: 'webhook', id },
  }))
}

async function declineOpenChallenges(tx: Tx, account_id: string): Promise<void> {
  await tx.run(
    `update three_ds_challenges set status = 'expired', next_attempt_at = null
      where account_id = $1 and status = 'pending'`,
    [account_id],
  )
}

/**
 * Expires the challenges that the grant's webhooks were asked about, unless a purchase has used
 * them. All receivers of a challenge get one response_url, so nobody can tell who approved it.
 */
export async function voidGrantApprovals(tx: Tx, grant_id: string): Promise<void> {
  await tx.run(
    `update three_ds_challenges c set status = 'expired', next_attempt_at = null
       from oauth_grants g
      where g.id = $1 and c.account_id = g.account_id and $1 = any(c.asked_grants)
        and c.status in ('pending', 'approved') and c.used_by is null`,
    [grant_id],
  )
}
