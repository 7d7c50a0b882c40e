import type { Tx } from '#platform/postgres/db.ts'

/** A client, code, token, session or interaction of the authorization server. */
export type OauthPayload = {
  payload: Record<string, unknown>
  consumed_at: Date | null
  expires_at: Date | null
  /** Of a browser session or consent page. */
  account_id: string | null
  signed_in_at: Date | null
}

export type NewOauthPayload = {
  model: string
  id: string
  payload: Record<string, unknown>
  grant_id: string | null
  uid: string | null
  client_id: string | null
  /** Only for browser sessions and interactions. */
  account_id: string | null
  signed_in_at: Date | null
  now: Date
  expires_at: Date | null
}

export async function upsertPayload(tx: Tx, row: NewOauthPayload): Promise<void> {
  await tx.run(
    `insert into oauth_payloads
       (model, id, payload, grant_id, uid, client_id, created_at, expires_at, account_id,
        signed_in_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         on conflict (model, id) do update
        set payload = $3, grant_id = $4, uid = $5, client_id = $6, expires_at = $8,
            account_id = $9, signed_in_at = $10`,
    [
      row.model,
      row.id,
      JSON.stringify(row.payload),
      row.grant_id,
      row.uid,
      row.client_id,
      row.now,
      row.expires_at,
      row.account_id,
      row.signed_in_at,
    ],
  )
}

/** Excludes sign-ins before the account's browser sessions were ended. */
const SIGNED_IN = `not exists (
  select from accounts a
   where a.id = p.account_id
     and (a.status <> 'active' or a.browser_sessions_ended_at >= p.signed_in_at))`

const SELECT_PAYLOAD = `select payload, consumed_at, expires_at, account_id, signed_in_at
  from oauth_payloads p where ${SIGNED_IN}`

export async function findPayload(
  tx: Tx,
  model: string,
  ids: readonly string[],
): Promise<OauthPayload | undefined> {
  const sql = `${SELECT_PAYLOAD} and model = $1 and id = any($2)`
  const [row] = await tx.rows<OauthPayload>(sql, [model, ids])
  return row
}

export async function findPayloadByUid(
  tx: Tx,
  model: string,
  uid: string,
): Promise<OauthPayload | undefined> {
  const [row] = await tx.rows<OauthPayload>(`${SELECT_PAYLOAD} and model = $1 and uid = $2`, [
    model,
    uid,
  ])
  return row
}

/** Returns true for the first call only, even if several run concurrently. */
export async function consumePayload(
  tx: Tx,
  { model, ids, now }: { model: string; ids: readonly string[]; now: Date },
): Promise<boolean> {
  const consumed = await tx.run(
    `update oauth_payloads set consumed_at = $3
      where model = $1 and id = any($2) and consumed_at is null`,
    [model, ids, now],
  )
  return consumed === 1
}

/** Unlike a delete, this lets a later use get token_revoked instead of invalid_token. */
export async function consumePayloadsOfGrant(
  tx: Tx,
  { model, grant_id, now }: { model: string; grant_id: string; now: Date },
): Promise<void> {
  await tx.run(
    `update oauth_payloads set consumed_at = $3
      where model = $1 and grant_id = $2 and consumed_at is null`,
    [model, grant_id, now],
  )
}

export async function deletePayload(tx: Tx, model: string, ids: readonly string[]): Promise<void> {
  await tx.run('delete from oauth_payloads where model = $1 and id = any($2)', [model, ids])
}

export async function deletePayloadsByUid(tx: Tx, model: string, uid: string): Promise<void> {
  await tx.run('delete from oauth_payloads where model = $1 and uid = $2', [model, uid])
}

export async function deletePayloadsOfGrant(
  tx: Tx,
  grant_id: string,
  models: readonly string[],
): Promise<void> {
  await tx.run('delete from oauth_payloads where grant_id = $1 and model = any($2)', [
    grant_id,
    models,
  ])
}

export type TokenPayload = { model: string; id: string; scope: string; audience: string | null }

/** The usable access and refresh tokens of a grant. */
export async function lockTokensOfGrant(
  tx: Tx,
  grant_id: string,
  now: Date,
): Promise<TokenPayload[]> {
  return tx.rows<TokenPayload>(
    `select model, id, coalesce(payload ->> 'scope', '') as scope, payload ->> 'aud' as audience
       from oauth_payloads
      where grant_id = $1 and model in ('AccessToken', 'RefreshToken')
        and consumed_at is null and expires_at > $2
      order by model, id for update`,
    [grant_id, now],
  )
}

export async function saveTokenScope(
  tx: Tx,
  { model, id, scope }: Pick<TokenPayload, 'model' | 'id' | 'scope'>,
): Promise<void> {
  await tx.run(
    `update oauth_payloads set payload = jsonb_set(payload, '{scope}', to_jsonb($3::text))
      where model = $1 and id = $2`,
    [model, id, scope],
  )
}

/** Rehashes a client secret with the current key root. */
export async function renewClientSecret(tx: Tx, client_id: string, hash: string): Promise<void> {
  await tx.run(
    `update oauth_payloads set payload = jsonb_set(payload, '{client_secret}', to_jsonb($2::text))
      where model = 'Client' and id = $1`,
    [client_id, hash],
  )
}

/** Ends the browser sessions of an account and every consent page that is open in them. */
export async function deletePayloadsOfAccount(tx: Tx, account_id: string): Promise<void> {
  await tx.run('delete from oauth_payloads where account_id = $1', [account_id])
}

/** Deletes expired rows of one model, or of all. */
export async function deleteExpiredPayloads(
  tx: Tx,
  { before, model = null }: { before: Date; model?: string | null },
): Promise<void> {
  await tx.run(
    'delete from oauth_payloads where expires_at < $1 and ($2::text is null or model = $2)',
    [before, model],
  )
}

/** Clients without a grant in this cell: those registered before a date, and all but the newest. */
export async function findUnusedClients(
  tx: Tx,
  { before, kept_max }: { before: Date; kept_max: number },
): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `select id from (
       select id, created_at, row_number() over (order by created_at desc) as place
         from oauth_payloads
        where model = 'Client'
          and not exists (select from oauth_grants g where g.client_id = oauth_payloads.id)) unused
      where created_at < $1 or place > $2`,
    [before, kept_max],
  )
  return rows.map(({ id }) => id)
}

/** Those of the clients that have a grant in this cell. */
export async function findUsedClients(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.rows<{ client_id: string }>(
    'select distinct client_id from oauth_grants where client_id = any($1)',
    [ids],
  )
  return rows.map(({ client_id }) => client_id)
}

/** Keeps a client that has been given a grant in this cell since. */
export async function deleteClients(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.run(
    `delete from oauth_payloads p where model = 'Client' and id = any($1)
        and not exists (select from oauth_grants g where g.client_id = p.id)`,
    [ids],
  )
  await tx.run(
    `delete from oauth_payloads r where model = 'RegistrationAccessToken'
        and not exists (
          select from oauth_payloads c where c.model = 'Client' and c.id = r.client_id)`,
  )
}
