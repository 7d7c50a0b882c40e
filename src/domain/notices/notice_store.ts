import type { Notifications } from '#contract/accounts.ts'
import { texts, timestamps } from '#platform/postgres/columns.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { NewNotice, NoticeRow } from './notice.ts'

export async function insertNotices(tx: Tx, notices: readonly NewNotice[]): Promise<void> {
  if (notices.length === 0) return
  await tx.run(
    `insert into notices (account_id, kind, recipient, subject, body_text, body_html, content,
                          next_attempt_at, created_at)
     select account_id, kind, recipient, subject, body_text, body_html, content::jsonb, at, at
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
                   $7::text[], $8::timestamptz[])
         as n (account_id, kind, recipient, subject, body_text, body_html, content, at)`,
    [
      texts(notices, ({ account_id }) => account_id),
      texts(notices, ({ kind }) => kind),
      texts(notices, ({ recipient }) => recipient),
      texts(notices, ({ subject }) => subject),
      texts(notices, ({ body_text }) => body_text),
      texts(notices, ({ body_html }) => body_html),
      texts(notices, ({ content }) => (content === undefined ? null : JSON.stringify(content))),
      timestamps(notices, ({ now }) => now),
    ],
  )
}

/** An account owner with the notification settings. */
export type Recipient = { id: string; email: string; notifications: Notifications }

export function findRecipients(tx: Tx, account_ids: readonly string[]): Promise<Recipient[]> {
  return tx.rows<Recipient>('select id, email, notifications from accounts where id = any($1)', [
    account_ids,
  ])
}

/** Newest first. */
export function findNotices(tx: Tx, account_id: string, limit: number): Promise<NoticeRow[]> {
  return tx.rows<NoticeRow>(
    `select id, account_id, kind, recipient, subject, body_text, body_html, content, state,
            attempts, created_at, sent_at
       from notices where account_id = $1 order by id desc limit $2`,
    [account_id, limit],
  )
}

type Lease = { now: Date; leased_until: Date; limit: number }

/** Leases the notices that are longest due; after a crash they are due again when it expires. */
export function leaseNotices(tx: Tx, { now, leased_until, limit }: Lease): Promise<NoticeRow[]> {
  return tx.rows<NoticeRow>(
    `update notices n set next_attempt_at = $2
       from (select id from notices where state = 'due' and next_attempt_at <= $1
              order by next_attempt_at limit $3 for update skip locked) due
      where n.id = due.id
  returning n.id, n.account_id, n.kind, n.recipient, n.subject, n.body_text, n.body_html,
            n.content, n.state, n.attempts, n.created_at, n.sent_at`,
    [now, leased_until, limit],
  )
}

/**
 * Undo links stay valid for 72 hours and reset links for 30 minutes, but notices are kept for 30
 * days: so remove their tokens.
 */
const TOKEN = '(/undo/|[?]token=)[A-Za-z0-9_-]+'
const WITHOUT_LINKS = ['body_text', 'body_html']
  .map((body) => `${body} = regexp_replace(${body}, '${TOKEN}', '\\1…', 'g')`)
  .join(', ')

export async function markSent(tx: Tx, id: bigint, now: Date): Promise<void> {
  await tx.run(
    `update notices set state = 'sent', sent_at = $2, attempts = attempts + 1, last_error = null,
                        ${WITHOUT_LINKS}
      where id = $1`,
    [id, now],
  )
}

type Failure = { id: bigint; error: string }

export async function markForRetry(
  tx: Tx,
  { id, error, next_attempt_at }: Failure & { next_attempt_at: Date },
): Promise<void> {
  await tx.run(
    `update notices set next_attempt_at = $3, attempts = attempts + 1, last_error = $2
      where id = $1`,
    [id, error, next_attempt_at],
  )
}

export async function markGivenUp(tx: Tx, { id, error }: Failure): Promise<void> {
  await tx.run(
    `update notices set state = 'given_up', attempts = attempts + 1, last_error = $2,
                        ${WITHOUT_LINKS}
      where id = $1`,
    [id, error],
  )
}

export async function deleteNoticesBefore(tx: Tx, before: Date): Promise<void> {
  await tx.run('delete from notices where created_at < $1', [before])
}
