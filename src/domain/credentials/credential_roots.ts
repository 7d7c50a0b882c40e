import type { Tx } from '#platform/postgres/db.ts'

/** Valid credentials that only an older key root can verify, by kind. */
export type OutstandingCredentials = Record<
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
 * Counts the credentials that would stop working without the older key roots. Sessions, API keys,
 * operator tokens and client secrets are rehashed at their next use; recovery codes are not.
 */
export async function countOutstandingCredentials(
  tx: Tx,
  { prefix, from, now }: { prefix: string; from: Date; now: Date },
): Promise<OutstandingCredentials> {
  const [counts] = await tx.rows<OutstandingCredentials>(
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
  if (counts === undefined) throw new Error('the query returned no row')
  return counts
}
