import { notFound } from '#contract/common_problems.ts'
import { LISTENS } from '#domain/authorizations/challenge_store.ts'
import type { Caller } from '#domain/context/context.ts'
import { assert } from '#kernel/assert.ts'
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

/** Who asks: an account's owner for all of its subscriptions, a token for those of its grant. */
type Holder = Pick<Caller, 'account_id' | 'grant_id'>

const HELD = 'account_id = $1 and id = $2 and ($3::text is null or grant_id = $3)'

const heldBy = ({ account_id, grant_id }: Holder, id: string) => [account_id, id, grant_id ?? null]

/**
 * The subscription begins after the account's last event. Read without a lock: an event that is
 * being written has a higher number and is delivered, which is the right way to be wrong.
 */
export async function insertWebhook(tx: Tx, webhook: NewWebhook): Promise<WebhookRow> {
  const [row] = await tx.rows<WebhookRow>(
    `insert into webhooks (account_id, id, url, events, description, secret_sealed, secret_hint,
                           after_sequence, created_at, updated_at, grant_id)
     select $1, $2, $3, $4, $5, $6, $7, event_sequence, $8, $8, $9
       from account_heads where account_id = $1
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
  assert(row !== undefined, 'an account has a head')
  return row
}

/** Waits for whoever else is subscribing for this account, so that two cannot both be the last. */
export async function countWebhooksLocked(tx: Tx, account_id: string): Promise<number> {
  await tx.rows('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`webhooks|${account_id}`])
  const [row] = await tx.rows<{ count: bigint }>(
    'select count(*) as count from webhooks where account_id = $1',
    [account_id],
  )
  return Number(row?.count ?? 0n)
}

export function pageOfWebhooks(
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

export async function findWebhookOf(tx: Tx, holder: Holder, id: string): Promise<WebhookRow> {
  const [row] = await tx.rows<WebhookRow>(
    `select ${COLUMNS} from webhooks where ${HELD}`,
    heldBy(holder, id),
  )
  return requireFound(row)
}

/** Locks the row: before the account's head, like everything. */
export async function lockWebhookOf(tx: Tx, holder: Holder, id: string): Promise<WebhookRow> {
  const [row] = await tx.rows<WebhookRow>(
    `select ${COLUMNS} from webhooks where ${HELD} for update`,
    heldBy(holder, id),
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

/**
 * What was still due goes with it: after it, when whoever was writing rows for it has finished.
 */
export async function deleteWebhookOf(tx: Tx, holder: Holder, id: string): Promise<void> {
  const deleted = await tx.run(`delete from webhooks where ${HELD}`, heldBy(holder, id))
  if (deleted === 0) requireFound(undefined)
  await dropDeliveries(tx, holder.account_id, id)
}

/** Those that have had nothing but failures since before that moment. */
export function findFailingSince(tx: Tx, before: Date, limit: number) {
  return tx.rows<Pick<WebhookRow, 'account_id' | 'id'>>(
    `select account_id, id from webhooks
      where status = 'enabled' and failing_since <= $1 order by failing_since limit $2`,
    [before, limit],
  )
}

/** A secret whose grace is over signs nothing and is better not there. */
export async function forgetOldSecrets(tx: Tx, now: Date): Promise<void> {
  await tx.run(
    `update webhooks set previous_secret_sealed = null, previous_secret_expires_at = null
      where previous_secret_expires_at <= $1`,
    [now],
  )
}

/** Those that are asked about payments online: * does not name them. */
export function findChallengeWebhooks(tx: Tx, account_id: string): Promise<WebhookRow[]> {
  return tx.rows<WebhookRow>(
    `select ${COLUMNS} from webhooks
      where account_id = $1 and ${LISTENS}
      order by id`,
    [account_id],
  )
}
