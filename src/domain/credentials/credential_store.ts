import type { Caller } from '#domain/context/context.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { notify } from '#platform/postgres/notify.ts'

export type CredentialRow = {
  kind: 'session' | 'api_key' | 'oauth_client'
  id: string
  name: string | null
  account_id: string
  account_status: 'active' | 'suspended'
  rate_profile: 'default' | 'conservative' | null
  expires_at: Date | null
  ended_at: Date | null
  /** Only for OAuth tokens. */
  token?: TokenDetails
}

/** With the hash that matched. */
type HashedRow = CredentialRow & { hash: string }

export type TokenDetails = {
  audience: string
  scope: string
  /** Resource → scopes of the grant as it is now: a token has no scope that was revoked since. */
  granted: Readonly<Record<string, string>>
  grant_id: string
  card_ids: string[] | null
  card_actions: string[] | null
}

/**
 * A bearer has a hash for each key root. PostgreSQL expects ten rows from an array that it does not
 * know, so it would plan the look-up of every call anew: 220 µs, and 39 to run it
 * (`npm run bench -- mixed`).
 */
const parametersOf = (hashes: readonly string[]): string =>
  hashes.map((_, at) => `$${at + 1}`).join(', ')

export async function findSessionByHash(
  tx: Tx,
  hashes: readonly string[],
): Promise<HashedRow | undefined> {
  const [row] = await tx.rows<HashedRow>(
    `select 'session' as kind, s.id, null as name, s.account_id, a.status as account_status,
            a.rate_profile, s.expires_at, s.ended_at, s.bearer_hash as hash
       from sessions s join accounts a on a.id = s.account_id
      where s.bearer_hash in (${parametersOf(hashes)})`,
    hashes,
  )
  return row
}

export async function findApiKeyByHash(
  tx: Tx,
  hashes: readonly string[],
): Promise<HashedRow | undefined> {
  const [row] = await tx.rows<HashedRow>(
    `select 'api_key' as kind, k.id, k.name, k.account_id, a.status as account_status,
            a.rate_profile, null as expires_at, k.revoked_at as ended_at,
            k.key_hash as hash
       from api_keys k join accounts a on a.id = k.account_id
      where k.key_hash in (${parametersOf(hashes)})`,
    hashes,
  )
  return row
}

/** Rehashes a bearer with the current key root. */
export async function renewBearerHash(
  tx: Tx,
  { kind, from, to }: { kind: 'session' | 'api_key'; from: string; to: string },
): Promise<void> {
  const sql =
    kind === 'session'
      ? 'update sessions set bearer_hash = $2 where bearer_hash = $1'
      : 'update api_keys set key_hash = $2 where key_hash = $1'
  await tx.run(sql, [from, to])
}

type TokenRow = Omit<CredentialRow, 'token'> & TokenDetails

/** Joins the grant, so a token that was issued while its grant ended is refused. */
export async function findTokenByHash(
  tx: Tx,
  hashes: readonly string[],
): Promise<CredentialRow | undefined> {
  const [row] = await tx.rows<TokenRow>(
    `select 'oauth_client' as kind, g.client_id as id, g.client_name as name, g.account_id,
            a.status as account_status, a.rate_profile, t.expires_at,
            coalesce(g.revoked_at, t.consumed_at) as ended_at,
            t.payload ->> 'aud' as audience, coalesce(t.payload ->> 'scope', '') as scope,
            coalesce(g.payload -> 'resources', '{}') as granted, g.id as grant_id, g.card_ids,
            g.card_actions
       from oauth_payloads t
       join oauth_grants g on g.id = t.grant_id
       join accounts a on a.id = g.account_id
      where t.model = 'AccessToken'
        and t.id in (${parametersOf(hashes)})`,
    hashes,
  )
  if (row === undefined) return undefined
  const { audience, scope, granted, grant_id, card_ids, card_actions, ...credential } = row
  const token = { audience, scope, granted, grant_id, card_ids, card_actions }
  return { ...credential, token }
}

/** Undefined if the credential no longer exists. */
export async function findCredentialEnd(
  tx: Tx,
  { kind, id, account_id, grant_id }: Caller,
): Promise<{ ended_at: Date | null } | undefined> {
  const queries = {
    session: 'select ended_at from sessions where account_id = $1 and id = $2',
    api_key: 'select revoked_at as ended_at from api_keys where account_id = $1 and id = $2',
    oauth_client:
      'select revoked_at as ended_at from oauth_grants where account_id = $1 and id = $2',
  }
  const [row] = await tx.rows<{ ended_at: Date | null }>(queries[kind], [
    account_id,
    grant_id ?? id,
  ])
  return row
}

/** At commit, every node forgets the credentials of this account. */
export async function notifyCredentialsChanged(tx: Tx, account_id: string): Promise<void> {
  await notify(tx, CREDENTIALS_CHANNEL, account_id)
}

export const CREDENTIALS_CHANNEL = 'florin_credentials'

/** Returns true for the first use of this key from this IP on this day. */
export async function insertKeyUse(
  tx: Tx,
  use: { account_id: string; key_id: string; ip: string; day: string },
): Promise<boolean> {
  const inserted = await tx.run(
    `insert into api_key_uses (account_id, key_id, ip, day) values ($1, $2, $3, $4)
         on conflict do nothing`,
    [use.account_id, use.key_id, use.ip, use.day],
  )
  return inserted === 1
}

export type KeyTouch = { account_id: string; key_id: string; ip: string; at: Date }

/** Updates last_used_at and last_used_ip of many keys, in key order to avoid deadlocks. */
export async function touchApiKeys(tx: Tx, touches: readonly KeyTouch[]): Promise<void> {
  const sorted = [...touches].sort((a, b) => (a.key_id < b.key_id ? -1 : 1))
  await tx.run(
    `update api_keys k set last_used_at = t.at, last_used_ip = t.ip
       from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
              as t (account_id, key_id, ip, at)
      where k.account_id = t.account_id and k.id = t.key_id
        and (k.last_used_at is null or k.last_used_at < t.at)`,
    [
      sorted.map((touch) => touch.account_id),
      sorted.map((touch) => touch.key_id),
      sorted.map((touch) => touch.ip),
      sorted.map((touch) => touch.at),
    ],
  )
}

/** Without arrays, which PostgreSQL would plan anew for the first call of each key on a day. */
export async function touchApiKey(tx: Tx, { account_id, key_id, ip, at }: KeyTouch): Promise<void> {
  await tx.run(
    `update api_keys set last_used_at = $3, last_used_ip = $4
      where account_id = $1 and id = $2 and (last_used_at is null or last_used_at < $3)`,
    [account_id, key_id, at, ip],
  )
}

export type SessionTouch = { account_id: string; id: string; at: Date }

/** Skips sessions that another transaction ends now: waiting for several could deadlock. */
export async function touchSessions(tx: Tx, touches: readonly SessionTouch[]): Promise<void> {
  await tx.run(
    `with used as (
       select s.account_id, s.id, t.at
         from sessions s
         join unnest($1::text[], $2::text[], $3::timestamptz[]) as t (account_id, id, at)
           on s.account_id = t.account_id and s.id = t.id
        where s.last_used_at is null or s.last_used_at < t.at
          for no key update of s skip locked)
     update sessions s set last_used_at = used.at
       from used where s.account_id = used.account_id and s.id = used.id`,
    [
      touches.map((touch) => touch.account_id),
      touches.map((touch) => touch.id),
      touches.map((touch) => touch.at),
    ],
  )
}

export type GrantTouch = { id: string; ip: string; at: Date }

export async function touchGrants(tx: Tx, touches: readonly GrantTouch[]): Promise<void> {
  const sorted = [...touches].sort((a, b) => (a.id < b.id ? -1 : 1))
  await tx.run(
    `update oauth_grants g set last_used_at = t.at, last_used_ip = t.ip
       from unnest($1::text[], $2::text[], $3::timestamptz[]) as t (id, ip, at)
      where g.id = t.id and (g.last_used_at is null or g.last_used_at < t.at)`,
    [
      sorted.map((touch) => touch.id),
      sorted.map((touch) => touch.ip),
      sorted.map((touch) => touch.at),
    ],
  )
}
