import { Problem } from '#contract/problem.ts'
import type { Database, Tx } from '#platform/postgres/db.ts'
import { takeEmptiestCell } from './cell_store.ts'
import { isEmailFree, lockEmail } from './email_store.ts'

async function findListed(tx: Tx, email: string): Promise<number | undefined> {
  const [row] = await tx.rows<{ cell: number }>(
    'select cell from directory_emails where email = $1',
    [email],
  )
  return row?.cell
}

/** The cell of an email address. One that is not listed is in cell 0, or has no account. */
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
    const holder = await findHolder(tx, { email, now })
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

/** Claims an email in a transaction of cell 0; false if its claim has changed. */
export type TakeOver = (home: Tx) => Promise<boolean>

/**
 * Claims an email for an account that changes it. Returns false if it belongs to another cell. A
 * claim that no account uses can be taken over: `whileFree` locks the email in the cell that has
 * the claim, which is another database, and takes it over if it is free there. An account that gets
 * the email there asks again whether its cell has the claim, so only one of the two commits.
 */
export async function claimForChange(
  db: Database,
  claim: Claim & { cell: number },
  whileFree: (holder: number, takeOver: TakeOver) => Promise<boolean>,
): Promise<boolean> {
  const asked = await findHolder(db, claim)
  const takeOver: TakeOver = async (tx) => {
    await lockEmail(tx, claim.email)
    const holder = await findHolder(tx, claim)
    if (holder !== asked && holder !== claim.cell) return false
    await setCell(tx, claim)
    return true
  }
  const isOfOther = asked !== undefined && asked !== claim.cell
  return isOfOther ? whileFree(asked, takeOver) : db.transaction(takeOver)
}

async function setCell(tx: Tx, { email, cell, now }: Claim & { cell: number }): Promise<void> {
  await tx.run(
    `insert into directory_emails (email, cell, claimed_at) values ($1, $2, $3)
     on conflict (email) do update set cell = excluded.cell, claimed_at = excluded.claimed_at
     where directory_emails.cell <> excluded.cell`,
    [email, cell, now],
  )
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

/** The cell that an email is listed for, or cell 0 if it is not listed and not free there. */
async function findHolder(tx: Tx, { email, now }: Claim): Promise<number | undefined> {
  const listed = await findListed(tx, email)
  if (listed !== undefined) return listed
  return (await isEmailFree(tx, { email, account_id: null, now })) ? undefined : 0
}
