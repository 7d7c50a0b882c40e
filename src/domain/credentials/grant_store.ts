import { tokenRevoked } from '#contract/common_problems.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { makePageReader } from '#platform/postgres/page.ts'
import { deletePayloadsOfGrant } from './oauth_payload_store.ts'

export type GrantRow = {
  account_id: string
  id: string
  client_id: string
  client_name: string | null
  payload: GrantPayload
  card_ids: string[] | null
  card_actions: string[] | null
  last_used_at: Date | null
  last_used_ip: string | null
  created_at: Date
  updated_at: Date
  expires_at: Date
  revoked_at: Date | null
}

/** The format of the authorization server. */
export type GrantPayload = {
  kind: 'Grant'
  jti: string
  iat: number
  exp: number
  accountId: string
  clientId: string
  /** Resource → scopes. */
  resources: Record<string, string>
  rar?: (CardAccessDetail | BudgetDetail)[]
}

/** RFC 9396: one card and the actions allowed on it. */
type CardAccessDetail = { type: 'card_access'; identifier: string; actions: string[] }

/** The budget of the grant, as the owner set it. */
export type BudgetDetail = {
  type: 'spend_budget'
  amount_usd: number
  period: 'day' | 'month' | 'total'
  ask_above_usd?: number
}

/** The panel's own client. It has no registration; its grants last for one reveal. */
export const PANEL_CLIENT_ID = 'florin_panel'

const COLUMNS = `account_id, id, client_id, client_name, payload, card_ids, card_actions,
                 last_used_at, last_used_ip, created_at, updated_at, expires_at, revoked_at`

export type SavedGrant = Pick<
  GrantRow,
  'account_id' | 'id' | 'client_id' | 'client_name' | 'payload' | 'card_ids' | 'card_actions'
> & { redirect_uri: string; now: Date; expires_at: Date }

export async function saveGrant(tx: Tx, grant: SavedGrant): Promise<void> {
  await tx.run(
    `insert into oauth_grants as g
       (account_id, id, client_id, client_name, payload, card_ids, card_actions, created_at,
        updated_at, expires_at, redirect_uris)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, array[$10])
         on conflict (account_id, id) do update
        set payload = $5, client_name = $4, updated_at = $8, expires_at = $9,
            redirect_uris = case when $10 = any(g.redirect_uris) then g.redirect_uris
                                 else g.redirect_uris || $10::text end`,
    [
      grant.account_id,
      grant.id,
      grant.client_id,
      grant.client_name,
      JSON.stringify(grant.payload),
      grant.card_ids,
      grant.card_actions,
      grant.now,
      grant.expires_at,
      grant.redirect_uri,
    ],
  )
}

type BudgetDetailChange = { detail: BudgetDetail | null; now: Date }

/** Replaces the budget in an active grant's authorization_details. Returns its client. */
export async function saveBudgetDetail(
  tx: Tx,
  { account_id, id }: GrantKey,
  { detail, now }: BudgetDetailChange,
): Promise<string | undefined> {
  const [row] = await tx.rows<{ client_id: string }>(
    `update oauth_grants
        set updated_at = $3, payload = jsonb_set(payload, '{rar}', $4::jsonb || array_to_json(array(
              select d from jsonb_array_elements(coalesce(payload -> 'rar', '[]')) d
               where d ->> 'type' <> 'spend_budget'))::jsonb)
      where account_id = $1 and id = $2 and revoked_at is null and expires_at > $3
  returning client_id`,
    [account_id, id, now, JSON.stringify(detail === null ? [] : [detail])],
  )
  return row?.client_id
}

type GrantKey = { account_id: string; id: string }

/** Replaces the scopes of a grant that the transaction has locked. */
export async function saveGrantResources(
  tx: Tx,
  { account_id, id }: GrantKey,
  { resources, now }: { resources: GrantPayload['resources']; now: Date },
): Promise<void> {
  await tx.run(
    `update oauth_grants
        set updated_at = $3, payload = jsonb_set(payload, '{resources}', $4::jsonb)
      where account_id = $1 and id = $2`,
    [account_id, id, now, JSON.stringify(resources)],
  )
}

/** Undefined if the account has no such active grant. */
export async function lockLiveGrantOf(
  tx: Tx,
  { account_id, id, now }: GrantKey & { now: Date },
): Promise<GrantRow | undefined> {
  const [row] = await tx.rows<GrantRow>(
    `select ${COLUMNS} from oauth_grants
      where account_id = $1 and id = $2 and revoked_at is null and expires_at > $3 for update`,
    [account_id, id, now],
  )
  return row
}

export async function findGrant(tx: Tx, id: string): Promise<GrantRow | undefined> {
  const [row] = await tx.rows<GrantRow>(`select ${COLUMNS} from oauth_grants where id = $1`, [id])
  return row
}

/** Active grants of a client, newest first. The lock serializes consents. */
export async function lockLiveGrantsOf(
  tx: Tx,
  { account_id, client_id, now }: { account_id: string; client_id: string; now: Date },
): Promise<GrantRow[]> {
  return tx.rows<GrantRow>(
    `select ${COLUMNS} from oauth_grants
      where account_id = $1 and client_id = $2 and revoked_at is null and expires_at > $3
      order by id desc for update`,
    [account_id, client_id, now],
  )
}

/** The active grants that all accounts of this cell have given a client. */
export async function findLiveGrantsOfClient(
  tx: Tx,
  { client_id, now }: { client_id: string; now: Date },
): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `select id from oauth_grants
      where client_id = $1 and revoked_at is null and expires_at > $2 order by id`,
    [client_id, now],
  )
  return rows.map(({ id }) => id)
}

export async function isKnownClient(
  tx: Tx,
  account_id: string,
  client_id: string,
): Promise<boolean> {
  const rows = await tx.rows(
    'select 1 from oauth_grants where account_id = $1 and client_id = $2 limit 1',
    [account_id, client_id],
  )
  return rows.length > 0
}

type RedirectQuery = { account_id: string; client_id: string; redirect_uri: string; now: Date }

/** True if the account has an active grant for this redirect URI. */
export async function hasConsentedTo(tx: Tx, redirect: RedirectQuery): Promise<boolean> {
  const { account_id, client_id, redirect_uri, now } = redirect
  const rows = await tx.rows(
    `select 1 from oauth_grants
      where account_id = $1 and client_id = $2 and $3 = any(redirect_uris)
        and revoked_at is null and expires_at > $4
      limit 1`,
    [account_id, client_id, redirect_uri, now],
  )
  return rows.length > 0
}

/** Newest first, without those of the panel itself. Without an account_id, of every account. */
export async function listGrantRows(
  tx: Tx,
  { account_id, limit }: { account_id: string | null; limit: number },
): Promise<GrantRow[]> {
  return tx.rows<GrantRow>(
    `select ${COLUMNS} from oauth_grants
      where ($1::text is null or account_id = $1) and client_id <> $3
      order by id desc limit $2`,
    [account_id, limit, PANEL_CLIENT_ID],
  )
}

/** The newest names of an account's OAuth clients. */
export async function findClientNames(
  tx: Tx,
  account_id: string,
): Promise<Map<string, string | null>> {
  const rows = await tx.rows<{ client_id: string; client_name: string | null }>(
    `select distinct on (client_id) client_id, client_name from oauth_grants
      where account_id = $1 order by client_id, id desc`,
    [account_id],
  )
  return new Map(rows.map(({ client_id, client_name }) => [client_id, client_name]))
}

export const readGrantPage = makePageReader<GrantRow>({
  prefix: 'grant',
  select: `select ${COLUMNS} from oauth_grants`,
})

/** Also deletes its codes and refresh tokens. Returns false if it was revoked before. */
export async function markRevoked(tx: Tx, id: string, now: Date): Promise<boolean> {
  const revoked = await tx.run(
    'update oauth_grants set revoked_at = $2, updated_at = $2 where id = $1 and revoked_at is null',
    [id, now],
  )
  await deletePayloadsOfGrant(tx, id, ['RefreshToken', 'AuthorizationCode'])
  return revoked === 1
}

/**
 * Requires that the grant is active; it then stays active until the transaction ends. Ending a
 * grant also ends what it has made, so nothing may be made for a grant that is being revoked.
 */
export async function requireLiveGrant(tx: Tx, id: string, now: Date): Promise<void> {
  const rows = await tx.rows(
    'select 1 from oauth_grants where id = $1 and revoked_at is null and expires_at > $2 for share',
    [id, now],
  )
  if (rows.length === 0) throw tokenRevoked()
}

/**
 * The new card takes the old one's place in every grant limited to it. If any grant changed, every
 * node must forget the account's bearers.
 */
export async function replaceCardInGrants(
  tx: Tx,
  account_id: string,
  { from, to, now }: { from: string; to: string; now: Date },
): Promise<number> {
  return tx.run(
    `update oauth_grants
        set card_ids = array_replace(card_ids, $2, $3),
            payload = replace(payload::text, $2, $3)::jsonb,
            updated_at = $4
      where account_id = $1 and $2 = any(card_ids)`,
    [account_id, from, to, now],
  )
}
