import { notFound } from '#contract/common_problems.ts'
import { LISTENS } from '#domain/authorizations/challenge_store.ts'
import type { Caller } from '#domain/context/context.ts'
import { assert } from '#kernel/assert.ts'
import { keyOfText } from '#platform/postgres/advisory_key.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type Condition, type PageInput, type PageOf, readPage } from '#platform/postgres/page.ts'
import { dropDeliveries } from './delivery_store.ts'
import type { WebhookRow } from './webhook.ts'

const COLUMNS = `account_id, id, url, events, status, disabled_reason, description, secret_sealed,
                 secret_hint, previous_secret_sealed, previous_secret_expires_at, failing_since,
                 last_delivery_at, version, created_at, updated_at, grant_id`

type NewWebhook = Pick<
  WebhookRow,
  | 'account_id'
  | 'id'
  | 'url'
  | 'events'
  | 'description'
  | 'secret_sealed'
  | 'secret_hint'
  | 'grant_id'
> & { now: Date }

/** An account's owner, who has all its webhooks, or a token, which has those of its grant. */
type WebhookOwner = Pick<Caller, 'account_id' | 'grant_id'>

const OWNED_BY = 'account_id = $1 and id = $2 and ($3::text is null or grant_id = $3)'

const ownerParams = ({ account_id, grant_id }: WebhookOwner, id: string) => [
  account_id,
  id,
  grant_id ?? null,
]

/**
 * The webhook starts after the account's last event. The sequence is read without a lock: an event
 * that is being written has a higher number and is delivered too.
 */
export async function insertWebhook(tx: Tx, webhook: NewWebhook): Promise<WebhookRow> {
  const [row] = await tx.rows<WebhookRow>(
    `with sequence as materialized (
       select event_sequence from account_sequences where account_id = $1)
     insert into webhooks (account_id, id, url, events, description, secret_sealed, secret_hint,
                           after_sequence, created_at, updated_at, grant_id)
     select $1, $2, $3, $4, $5, $6, $7, event_sequence, $8, $8, $9
       from sequence
  returning ${COLUMNS}`,
    [
      webhook.account_id,
      webhook.id,
      webhook.url,
      webhook.events,
      webhook.description,
      webhook.secret_sealed,
      webhook.secret_hint,
      webhook.now,
      webhook.grant_id,
    ],
  )
  assert(row !== undefined, 'every account has a sequence row')
  return row
}

/** The lock serializes create_webhook, so concurrent calls cannot exceed the limit. */
export async function lockAndCountWebhooks(tx: Tx, account_id: string): Promise<number> {
  await tx.rows(`select pg_advisory_xact_lock(${keyOfText()})`, [`webhooks|${account_id}`])
  const [row] = await tx.rows<{ count: bigint }>(
    'select count(*) as count from webhooks where account_id = $1',
    [account_id],
  )
  return Number(row?.count ?? 0n)
}

export function readWebhookPage(
  tx: Tx,
  input: PageInput,
  where: readonly Condition[],
): Promise<PageOf<WebhookRow>> {
  return readPage(tx, {
    operation: 'list_webhooks',
    prefix: 'wh',
    select: `select ${COLUMNS} from webhooks`,
    where,
    input,
  })
}

export async function findWebhookOf(tx: Tx, owner: WebhookOwner, id: string): Promise<WebhookRow> {
  const [row] = await tx.rows<WebhookRow>(
    `select ${COLUMNS} from webhooks where ${OWNED_BY}`,
    ownerParams(owner, id),
  )
  return requireFound(row)
}

/** Lock order: before the account's sequence row. */
export async function lockWebhookOf(tx: Tx, owner: WebhookOwner, id: string): Promise<WebhookRow> {
  const [row] = await tx.rows<WebhookRow>(
    `select ${COLUMNS} from webhooks where ${OWNED_BY} for update`,
    ownerParams(owner, id),
  )
  return requireFound(row)
}

function requireFound(row: WebhookRow | undefined): WebhookRow {
  if (row === undefined) throw notFound('webhook')
  return row
}

export async function updateWebhookRow(tx: Tx, webhook: WebhookRow): Promise<WebhookRow> {
  const [row] = await tx.rows<WebhookRow>(
    `update webhooks
        set url = $3, events = $4, status = $5, disabled_reason = $6, description = $7,
            secret_sealed = $8, secret_hint = $9, previous_secret_sealed = $10,
            previous_secret_expires_at = $11, failing_since = $12, updated_at = $13,
            grant_id = $14, version = version + 1
      where account_id = $1 and id = $2
  returning ${COLUMNS}`,
    [
      webhook.account_id,
      webhook.id,
      webhook.url,
      webhook.events,
      webhook.status,
      webhook.disabled_reason,
      webhook.description,
      webhook.secret_sealed,
      webhook.secret_hint,
      webhook.previous_secret_sealed,
      webhook.previous_secret_expires_at,
      webhook.failing_since,
      webhook.updated_at,
      webhook.grant_id,
    ],
  )
  return requireFound(row)
}

/** Deliveries are dropped last, when the fan-out's share lock on the webhook is gone. */
export async function deleteWebhookOf(tx: Tx, owner: WebhookOwner, id: string): Promise<void> {
  const deleted = await tx.run(`delete from webhooks where ${OWNED_BY}`, ownerParams(owner, id))
  if (deleted === 0) requireFound(undefined)
  await dropDeliveries(tx, owner.account_id, id)
}

/** Webhooks whose attempts have all failed since before this time. */
export function findFailingSince(tx: Tx, before: Date, limit: number) {
  return tx.rows<Pick<WebhookRow, 'account_id' | 'id'>>(
    `select account_id, id from webhooks
      where status = 'enabled' and failing_since <= $1 order by failing_since limit $2`,
    [before, limit],
  )
}

/** A previous secret is not used after its grace period. */
export async function deleteExpiredSecrets(tx: Tx, now: Date): Promise<void> {
  await tx.run(
    `update webhooks set previous_secret_sealed = null, previous_secret_expires_at = null
      where previous_secret_expires_at <= $1`,
    [now],
  )
}

/** The webhooks that receive 3-D Secure challenges. */
export function findChallengeWebhooks(tx: Tx, account_id: string): Promise<WebhookRow[]> {
  return tx.rows<WebhookRow>(
    `select ${COLUMNS} from webhooks
      where account_id = $1 and ${LISTENS}
      order by id`,
    [account_id],
  )
}
