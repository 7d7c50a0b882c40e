import type { Tx } from '#platform/postgres/db.ts'

/** Live credentials that only an older root recognises, by kind. */
export type Outstanding = Record<
  | 'sessions'
  | 'api_keys'
  | 'operator_tokens'
  | 'oauth_tokens'
  | 'oauth_client_secrets'
  | 'recovery_codes'
  | 'unsigned_withdrawals',
  number
>

/**
 * Counts what would stop working if the older roots were retired. Sessions and API keys, operator
 * tokens and client secrets move at their next use; recovery codes are used up or replaced.
 */
export async function countOutstanding(
  tx: Tx,
  { prefix, from, now }: { prefix: string; from: Date; now: Date },
): Promise<Outstanding> {
  const [counts] = await tx.rows<Outstanding>(
    `select
       (select count(*)::int from sessions
         where ended_at is null and expires_at > $3
           and not starts_with(bearer_hash, $1)) as sessions,
       (select count(*)::int from api_keys
         where revoked_at is null and not starts_with(key_hash, $1)) as api_keys,
       (select count(*)::int from operator_tokens
         where revoked_at is null and not starts_with(token_hash, $1)) as operator_tokens,
       (select count(*)::int from oauth_payloads
         where model in ('AccessToken', 'RefreshToken') and consumed_at is null
           and expires_at > $3 and not starts_with(id, $1)) as oauth_tokens,
       (select count(*)::int from oauth_payloads
         where model = 'Client' and not starts_with(payload ->> 'client_secret', $1)
       ) as oauth_client_secrets,
       (select count(*)::int from recovery_codes
         where not starts_with(code_hash, $1)) as recovery_codes,
       (select count(*)::int from withdrawals
         where status in ('pending', 'broadcasted') and created_at < $2) as unsigned_withdrawals`,
    [prefix, from, now],
  )
  if (counts === undefined) throw new Error('a select of counts has a row')
  return counts
}
