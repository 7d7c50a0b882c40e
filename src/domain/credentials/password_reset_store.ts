import type { Tx } from '#platform/postgres/db.ts'
import type { Keys } from '#platform/storage/keys.ts'
import { type LinkTokenContext, newLinkToken } from './link_token.ts'

export const RESET_MINUTES = 30

const hashOf = (keys: Keys, token: string) => keys.fingerprint('password_reset', token)

/** A request as it was made; there may be no account with this email. */
export type ResetRequest = {
  email: string
  ip: string
  user_agent: string
  request_id: string
  requested_at: Date
}

export async function insertResetRequest(tx: Tx, request: ResetRequest): Promise<void> {
  const { email, ip, user_agent, request_id, requested_at } = request
  await tx.run(
    `insert into password_reset_requests (email, ip, user_agent, request_id, requested_at)
     values ($1, $2, $3, $4, $5)`,
    [email, ip, user_agent, request_id, requested_at],
  )
}

/** Removes and returns the oldest request that no other node is processing. */
export async function takeResetRequest(tx: Tx): Promise<ResetRequest | undefined> {
  const [row] = await tx.rows<ResetRequest>(
    `delete from password_reset_requests
      where id = (select id from password_reset_requests order by id limit 1
                     for update skip locked)
  returning email, ip, user_agent, request_id, requested_at`,
  )
  return row
}

/** Reads without a transaction, because a commit would wake the other tasks. */
export async function hasResetRequest(tx: Tx): Promise<boolean> {
  return (await tx.rows('select 1 from password_reset_requests limit 1')).length > 0
}

type NewReset = { account_id: string; requested_at: Date; now: Date }

/**
 * Returns the token of a new link, which replaces the account's previous one. Only its hash is
 * stored. Undefined if another node has made the link of a newer request already.
 */
export async function createReset(
  tx: Tx,
  context: LinkTokenContext & { keys: Keys },
  { account_id, requested_at, now }: NewReset,
): Promise<string | undefined> {
  const token = newLinkToken(context)
  const expires_at = new Date(now.getTime() + RESET_MINUTES * 60_000)
  const stored = await tx.run(
    `insert into password_resets as r (account_id, token_hash, requested_at, expires_at)
     values ($1, $2, $3, $4)
         on conflict (account_id) do update
        set token_hash = excluded.token_hash, requested_at = excluded.requested_at,
            expires_at = excluded.expires_at
      where r.requested_at <= excluded.requested_at`,
    [account_id, hashOf(context.keys, token), requested_at, expires_at],
  )
  return stored === 1 ? token : undefined
}

type SentToken = { token: string; now: Date }

/** The account of a token; undefined if it is unknown, used, replaced or expired. */
export async function findResetAccount(
  tx: Tx,
  { keys }: { keys: Keys },
  { token, now }: SentToken,
): Promise<string | undefined> {
  const [row] = await tx.rows<{ account_id: string }>(
    'select account_id from password_resets where token_hash = $1 and expires_at > $2',
    [hashOf(keys, token), now],
  )
  return row?.account_id
}

/** Uses the token up. Returns false if it can no longer be used. */
export async function consumeReset(
  tx: Tx,
  { keys }: { keys: Keys },
  { token, now }: SentToken,
): Promise<boolean> {
  const used = await tx.run(
    'delete from password_resets where token_hash = $1 and expires_at > $2',
    [hashOf(keys, token), now],
  )
  return used === 1
}

export async function deleteReset(tx: Tx, account_id: string): Promise<void> {
  await tx.run('delete from password_resets where account_id = $1', [account_id])
}
