import type { ChallengePayment } from '#domain/context/surface.ts'
import { assert } from '#kernel/assert.ts'
import type { Tx } from '#platform/postgres/db.ts'

export type ChallengeRow = ChallengePayment & {
  account_id: string
  id: string
  status: 'pending' | 'approved' | 'declined' | 'expired'
  response_hash: string
  body: string
  attempts: number
  next_attempt_at: Date | null
  decided_at: Date | null
  used_by: string | null
  /** The grants whose webhooks were asked: they know its response URL. */
  asked_grants: string[]
  created_at: Date
  expires_at: Date
}

type NewChallenge = Omit<ChallengeRow, 'attempts' | 'decided_at' | 'used_by' | 'asked_grants'>

export async function insertChallenge(tx: Tx, challenge: NewChallenge): Promise<ChallengeRow> {
  const columns = Object.keys(challenge)
  const [row] = await tx.rows<ChallengeRow>(
    `insert into three_ds_challenges (${columns.join(', ')})
     values (${columns.map((_, at) => `$${at + 1}`).join(', ')})
  returning *`,
    Object.values(challenge),
  )
  assert(row !== undefined, 'a new challenge was stored')
  return row
}

/**
 * A webhook is asked if it names the type; `*` does not include it. One created with a token is
 * asked only while its grant has card:control.
 */
export const LISTENS = `status = 'enabled' and 'three_ds.challenge' = any(events)
  and (grant_id is null or exists (
        select from oauth_grants g,
                    jsonb_each_text(g.payload -> 'resources') as held (resource, scope)
         where g.id = grant_id and g.revoked_at is null
           and 'card:control' = any(string_to_array(held.scope, ' '))))`

export async function hasListener(tx: Tx, account_id: string): Promise<boolean> {
  const rows = await tx.rows(
    `select 1 from webhooks
      where account_id = $1 and ${LISTENS}
      limit 1`,
    [account_id],
  )
  return rows.length > 0
}

export async function lockChallenge(tx: Tx, id: string): Promise<ChallengeRow | null> {
  const [row] = await tx.rows<ChallengeRow>(
    'select * from three_ds_challenges where id = $1 for update',
    [id],
  )
  return row ?? null
}

export async function findChallengeOf(tx: Tx, id: string): Promise<ChallengeRow | null> {
  const [row] = await tx.rows<ChallengeRow>('select * from three_ds_challenges where id = $1', [id])
  return row ?? null
}

export async function decideChallenge(
  tx: Tx,
  { account_id, id }: Pick<ChallengeRow, 'account_id' | 'id'>,
  { status, now }: { status: 'approved' | 'declined'; now: Date },
): Promise<void> {
  await tx.run(
    `update three_ds_challenges set status = $3, decided_at = $4, next_attempt_at = null
      where account_id = $1 and id = $2`,
    [account_id, id, status, now],
  )
}

export async function challengeStatusOf(
  tx: Tx,
  account_id: string,
  id: string,
): Promise<ChallengeRow['status'] | null> {
  const [row] = await tx.rows<Pick<ChallengeRow, 'status'>>(
    'select status from three_ds_challenges where account_id = $1 and id = $2',
    [account_id, id],
  )
  return row?.status ?? null
}

export async function hasPendingChallenge(tx: Tx): Promise<boolean> {
  const rows = await tx.rows(`select from three_ds_challenges where status = 'pending' limit 1`)
  return rows.length > 0
}

/** Challenges without a decision are declined. */
export async function expireChallenges(tx: Tx, now: Date): Promise<void> {
  await tx.run(
    `update three_ds_challenges set status = 'expired', next_attempt_at = null
      where status = 'pending' and expires_at <= $1`,
    [now],
  )
}

/** Declines every open challenge of an account. */
export async function expirePendingChallenges(tx: Tx, account_id: string): Promise<void> {
  await tx.run(
    `update three_ds_challenges set status = 'expired', next_attempt_at = null
      where account_id = $1 and status = 'pending'`,
    [account_id],
  )
}

/**
 * Expires the challenges that were sent to a grant's webhooks, unless a purchase has used them. All
 * receivers of a challenge get the same response_url, so it is not known who approved it.
 */
export async function expireChallengesOfGrant(tx: Tx, grant_id: string): Promise<void> {
  await tx.run(
    `update three_ds_challenges c set status = 'expired', next_attempt_at = null
       from oauth_grants g
      where g.id = $1 and c.account_id = g.account_id and $1 = any(c.asked_grants)
        and c.status in ('pending', 'approved') and c.used_by is null`,
    [grant_id],
  )
}

/**
 * Leases due challenges, so a crash makes them due again. Stores the receivers before the first
 * request: when a grant ends, its approvals are void.
 */
export async function claimChallenges(
  tx: Tx,
  { now, leased_until, limit }: { now: Date; leased_until: Date; limit: number },
): Promise<ChallengeRow[]> {
  return tx.rows<ChallengeRow>(
    `update three_ds_challenges c set next_attempt_at = $2, attempts = attempts + 1,
            asked_grants = array(
              select unnest(c.asked_grants)
              union
              select grant_id from webhooks w
               where w.account_id = c.account_id and w.grant_id is not null and ${LISTENS})
      where (account_id, id) in (
              select account_id, id from three_ds_challenges
               where status = 'pending' and next_attempt_at <= $1
               order by next_attempt_at limit $3 for update skip locked)
  returning c.*`,
    [now, leased_until, limit],
  )
}

export async function setNextAttempt(
  tx: Tx,
  { account_id, id }: Pick<ChallengeRow, 'account_id' | 'id'>,
  next_attempt_at: Date | null,
): Promise<void> {
  await tx.run(
    `update three_ds_challenges set next_attempt_at = $3
      where account_id = $1 and id = $2 and status = 'pending'`,
    [account_id, id, next_attempt_at],
  )
}
