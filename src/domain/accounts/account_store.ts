import { genesisHash } from '#domain/audit/audit.ts'
import { isEmailFree, lockEmail } from '#domain/directory/email_store.ts'
import { insertAccountSequence } from '#domain/events/account_sequence_store.ts'
import { purseSql } from '#domain/ledger/balances.ts'
import { assert } from '#kernel/assert.ts'
import type { Tx } from '#platform/postgres/db.ts'
import {
  type AccountHoldings,
  type AccountRow,
  type AccountWithoutSecrets,
  emailTaken,
} from './account.ts'

const VISIBLE = 'id, email, status, notifications, totp_status, version, created_at, updated_at'
const COLUMNS = `${VISIBLE}, password_hash, totp_secret_sealed, totp_last_step`

export type NewAccount = Pick<AccountRow, 'id' | 'email' | 'password_hash' | 'notifications'> & {
  now: Date
}

/** Refuses an email that another account of this cell has, or can get back with an undo link. */
async function requireEmailFree(
  tx: Tx,
  { id, email, now }: Pick<NewAccount, 'id' | 'email' | 'now'>,
): Promise<void> {
  await lockEmail(tx, email)
  if (!(await isEmailFree(tx, { email, account_id: id, now }))) throw emailTaken()
}

/** Inserts the account and its sequence row. Refuses an email that is already taken. */
export async function insertAccount(tx: Tx, account: NewAccount): Promise<AccountRow> {
  await requireEmailFree(tx, account)
  const [row] = await tx.rows<AccountRow>(
    `insert into accounts (id, email, password_hash, notifications, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $5)
  returning ${COLUMNS}`,
    [
      account.id,
      account.email,
      account.password_hash,
      JSON.stringify(account.notifications),
      account.now,
    ],
  )
  assert(row !== undefined, 'an insert returns its row')
  await insertAccountSequence(tx, account.id, genesisHash(account.id))
  return row
}

export async function findAccountByEmail(tx: Tx, email: string): Promise<AccountRow | undefined> {
  const [row] = await tx.rows<AccountRow>(`select ${COLUMNS} from accounts where email = $1`, [
    email,
  ])
  return row
}

/** Emails of all accounts in the order of their IDs, from the one behind `after`. */
export function listEmails(
  tx: Tx,
  after: string,
  limit: number,
): Promise<{ id: string; email: string }[]> {
  return tx.rows('select id, email from accounts where id > $1 order by id limit $2', [
    after,
    limit,
  ])
}

/** Accounts with their balances and card counts, in one statement. */
const withHoldings = (columns: string) => `
  select ${columns}, coalesce(p.balance_micros, 0) as balance_micros,
         coalesce(-d.balance_micros, 0) as owed_micros, c.cards_count
    from accounts
    left join lateral (${purseSql('treasury', 'accounts.id')}) p on true
    left join lateral (${purseSql('receivable', 'accounts.id')}) d on true
   cross join lateral (
          select json_build_object(
                   'active', count(*) filter (where status = 'active'),
                   'frozen', count(*) filter (where status = 'frozen'),
                   'cancelled', count(*) filter (where status = 'cancelled')) as cards_count
            from cards where account_id = accounts.id) c
   where id = any($1)`

const VISIBLE_WITH_HOLDINGS = withHoldings(VISIBLE)
const ALL_WITH_HOLDINGS = withHoldings(COLUMNS)

/** For shared reads, which never load the password hash or the TOTP secret. */
export async function findAccounts(
  tx: Tx,
  ids: readonly string[],
): Promise<(AccountWithoutSecrets & AccountHoldings)[]> {
  return tx.rows<AccountWithoutSecrets & AccountHoldings>(VISIBLE_WITH_HOLDINGS, [ids])
}

export async function findAccount(tx: Tx, id: string): Promise<AccountRow & AccountHoldings> {
  const [row] = await tx.rows<AccountRow & AccountHoldings>(ALL_WITH_HOLDINGS, [[id]])
  return assertFound(row)
}

/** A caller always has an account, so a missing row is a bug. */
export function assertFound<Row extends object>(row: Row | undefined): Row {
  assert(row !== undefined, 'a caller has an account')
  return row
}

/**
 * The first lock of every change to an account. `for no key update` does not block inserts of rows
 * that reference the account: those hold its sequence row, so blocking them could deadlock.
 */
export async function lockAccount(tx: Tx, id: string): Promise<AccountRow> {
  const [row] = await tx.rows<AccountRow>(
    `select ${COLUMNS} from accounts where id = $1 for no key update`,
    [id],
  )
  return assertFound(row)
}

/** Locks the account against a suspension and returns its status. */
export async function lockStatus(tx: Tx, id: string): Promise<AccountRow['status']> {
  const [row] = await tx.rows<Pick<AccountRow, 'status'>>(
    'select status from accounts where id = $1 for share',
    [id],
  )
  return assertFound(row).status
}

type AccountChange = Pick<AccountRow, 'id' | 'email' | 'password_hash' | 'notifications'> & {
  now: Date
}

export async function updateAccountRow(tx: Tx, change: AccountChange): Promise<AccountRow> {
  await requireEmailFree(tx, change)
  const [row] = await tx.rows<AccountRow>(
    `update accounts
        set email = $2, password_hash = $3, notifications = $4, version = version + 1,
            updated_at = $5
      where id = $1
  returning ${COLUMNS}`,
    [
      change.id,
      change.email,
      change.password_hash,
      JSON.stringify(change.notifications),
      change.now,
    ],
  )
  return assertFound(row)
}

type TotpChange = Pick<AccountRow, 'id' | 'totp_status' | 'totp_secret_sealed'> & { now: Date }

export async function updateTotp(tx: Tx, change: TotpChange): Promise<void> {
  await tx.run(
    `update accounts
        set totp_status = $2, totp_secret_sealed = $3, version = version + 1, updated_at = $4
      where id = $1`,
    [change.id, change.totp_status, change.totp_secret_sealed, change.now],
  )
}

/** For a new secret: none of its codes has been used. */
export async function resetTotpStep(tx: Tx, account_id: string): Promise<void> {
  await tx.run('update accounts set totp_last_step = 0 where id = $1', [account_id])
}

/** Returns false if this time step or a later one was used before: each code works once. */
export async function consumeTotpStep(tx: Tx, account_id: string, step: bigint): Promise<boolean> {
  const used = await tx.run(
    'update accounts set totp_last_step = $2 where id = $1 and totp_last_step < $2',
    [account_id, step],
  )
  return used === 1
}

export async function replaceRecoveryCodes(
  tx: Tx,
  account_id: string,
  code_hashes: readonly string[],
): Promise<void> {
  await tx.run('delete from recovery_codes where account_id = $1', [account_id])
  await tx.run('insert into recovery_codes (account_id, code_hash) select $1, unnest($2::text[])', [
    account_id,
    code_hashes,
  ])
}

/** Deletes the code, and returns false if there was none. */
export async function consumeRecoveryCode(
  tx: Tx,
  account_id: string,
  code_hashes: readonly string[],
): Promise<boolean> {
  const used = await tx.run(
    'delete from recovery_codes where account_id = $1 and code_hash = any($2)',
    [account_id, code_hashes],
  )
  return used === 1
}
