import type { Tx } from '#platform/postgres/db.ts'
import type { PageOf } from '#platform/postgres/page.ts'

type RowOfAccount = { account_id: string }

/** Operators know customers by their email, not by an ID. One statement for all rows. */
export async function withEmails<Row extends RowOfAccount>(
  tx: Tx,
  page: PageOf<Row>,
): Promise<PageOf<Row & { account_email: string }>> {
  const emails = await findEmails(tx, page.data)
  const data = page.data.map((row) => ({ ...row, account_email: emails.get(row.account_id) ?? '' }))
  return { ...page, data }
}

export async function findEmail(tx: Tx, account_id: string): Promise<string> {
  return (await findEmails(tx, [{ account_id }])).get(account_id) ?? ''
}

async function findEmails(tx: Tx, rows: readonly RowOfAccount[]): Promise<Map<string, string>> {
  if (rows.length === 0) return new Map()
  const found = await tx.rows<{ id: string; email: string }>(
    'select id, email from accounts where id = any($1)',
    [[...new Set(rows.map(({ account_id }) => account_id))]],
  )
  return new Map(found.map(({ id, email }) => [id, email]))
}
