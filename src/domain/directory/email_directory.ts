import { Problem } from '#contract/problem.ts'
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

/**
 * The cell in which an account with this email is created. It is written first: if the account then
 * isn't created, the next attempt with the same email goes to the same cell.
 */
export function claimForNewAccount(
  db: Database,
  { email, now }: Claim,
  numbers: readonly number[],
): Promise<number> {
  return db.transaction(async (tx) => {
    await lockEmail(tx, email)
    const listed = await findListed(tx, email)
    if (listed !== undefined) return listed
    if (await isInFirstCell(tx, email)) return 0
    const cell = await takeEmptiestCell(tx, numbers)
    if (cell === undefined) {
      throw new Problem('service_unavailable', 'New accounts are not accepted now.', {
        retry_after_s: 60,
      })
    }
    await insertClaim(tx, { email, now, cell })
    return cell
  })
}

/**
 * Claims an email for an account that changes it. Returns false if it belongs to an account of
 * another cell. `isUsed` asks that cell: a claim that no account uses can be taken over.
 */
export function claimForChange(
  db: Database,
  { email, now, cell }: Claim & { cell: number },
  isUsed: (cell: number) => Promise<boolean>,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    await lockEmail(tx, email)
    const listed = await findListed(tx, email)
    const holder = listed ?? ((await isInFirstCell(tx, email)) ? 0 : cell)
    if (holder !== cell && (await isUsed(holder))) return false
    if (listed === undefined) await insertClaim(tx, { email, now, cell })
    else if (holder !== cell) {
      await tx.run('update directory_emails set cell = $2, claimed_at = $3 where email = $1', [
        email,
        cell,
        now,
      ])
    }
    return true
  })
}

/** Claims of one address wait for each other, also when it isn't listed yet. */
async function lockEmail(tx: Tx, email: string): Promise<void> {
  await tx.rows('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`directory|${email}`])
}

async function isInFirstCell(tx: Tx, email: string): Promise<boolean> {
  return (await tx.rows('select from accounts where email = $1', [email])).length > 0
}

async function insertClaim(tx: Tx, { email, cell, now }: Claim & { cell: number }): Promise<void> {
  await tx.run('insert into directory_emails (email, cell, claimed_at) values ($1, $2, $3)', [
    email,
    cell,
    now,
  ])
}
