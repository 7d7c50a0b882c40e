import { Problem } from '#contract/problem.ts'
import { keyOfText } from '#platform/postgres/advisory_key.ts'
import type { Database, Tx } from '#platform/postgres/db.ts'
import { takeEmptiestCell } from './cell_store.ts'

async function findListed(tx: Tx, email: string): Promise<number | undefined> {
  const [row] = await tx.rows<{ cell: number }>(
    'select cell from directory_emails where email = $1',
    [email],
  )
  return row?.cell
}

/** The cell of an email address. One that is not listed belongs to cell 0, or to nobody. */
export async function findEmailCell(tx: Tx, email: string): Promise<number> {
  return (await findListed(tx, email)) ?? 0
}

type Claim = { email: string; now: Date }

type NewClaim = Claim & {
  /** The cells that may take the account. */
  numbers: readonly number[]
  /** Refuses a new email if too many come from one address. */
  requireAllowed(tx: Tx): Promise<void>
}

/**
 * The cell in which an account with this email is created. It is written first: if the account then
 * isn't created, the next attempt with the same email goes to the same cell.
 */
export function claimForNewAccount(
  db: Database,
  { email, now, numbers, requireAllowed }: NewClaim,
): Promise<number> {
  return db.transaction(async (tx) => {
    await lockEmail(tx, email)
    const holder = await findHolder(tx, email)
    if (holder !== undefined) return holder
    await requireAllowed(tx)
    const cell = await takeEmptiestCell(tx, numbers)
    if (cell === undefined) {
      throw new Problem('service_unavailable', 'New accounts are not accepted now.', {
        retry_after_s: 60,
      })
    }
    await tx.run('insert into directory_emails (email, cell, claimed_at) values ($1, $2, $3)', [
      email,
      cell,
      now,
    ])
    return cell
  })
}

/**
 * Claims an email for an account that changes it. Returns false if it belongs to an account of
 * another cell. `isUsed` asks that cell, before the transaction, because it is another database: a
 * claim that no account uses can be taken over.
 */
export async function claimForChange(
  db: Database,
  { email, now, cell }: Claim & { cell: number },
  isUsed: (cell: number) => Promise<boolean>,
): Promise<boolean> {
  const asked = await findHolder(db, email)
  if (asked !== undefined && asked !== cell && (await isUsed(asked))) return false
  return db.transaction(async (tx) => {
    await lockEmail(tx, email)
    const holder = await findHolder(tx, email)
    if (holder !== asked && holder !== cell) return false
    await tx.run(
      `insert into directory_emails (email, cell, claimed_at) values ($1, $2, $3)
       on conflict (email) do update set cell = excluded.cell, claimed_at = excluded.claimed_at
       where directory_emails.cell <> excluded.cell`,
      [email, cell, now],
    )
    return true
  })
}

/** Lists the emails of a cell's accounts as they are now; returns how many were not. */
export function relistEmails(
  tx: Tx,
  emails: readonly string[],
  { cell, now }: { cell: number; now: Date },
): Promise<number> {
  return tx.run(
    `insert into directory_emails (email, cell, claimed_at)
     select email, $2, $3 from unnest($1::text[]) as listed (email)
         on conflict (email) do update set cell = excluded.cell, claimed_at = excluded.claimed_at
      where directory_emails.cell <> excluded.cell`,
    [emails, cell, now],
  )
}

/** The cell that an email is listed for, or cell 0 if an account there uses it unlisted. */
async function findHolder(tx: Tx, email: string): Promise<number | undefined> {
  return (await findListed(tx, email)) ?? ((await isInFirstCell(tx, email)) ? 0 : undefined)
}

/** Claims of one address wait for each other, even if it isn't listed yet. */
async function lockEmail(tx: Tx, email: string): Promise<void> {
  await tx.rows(`select pg_advisory_xact_lock(${keyOfText()})`, [`directory|${email}`])
}

async function isInFirstCell(tx: Tx, email: string): Promise<boolean> {
  return (await tx.rows('select from accounts where email = $1', [email])).length > 0
}
