import type { AccountNote } from '#contract/operator/notes.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { makePageReader } from '#platform/postgres/page.ts'

export type NoteRow = {
  account_id: string
  id: string
  operator_id: string
  operator_name: string
  body: string
  created_at: Date
}

export async function insertNote(tx: Tx, note: NoteRow): Promise<void> {
  await tx.run(
    `insert into account_notes (account_id, id, operator_id, operator_name, body, created_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [note.account_id, note.id, note.operator_id, note.operator_name, note.body, note.created_at],
  )
}

export const readNotePage = makePageReader<NoteRow>({
  prefix: 'note',
  select: `select account_id, id, operator_id, operator_name, body, created_at
             from account_notes`,
})

export const noteView = (note: NoteRow): AccountNote => ({
  id: note.id,
  account_id: note.account_id,
  body: note.body,
  author: { id: note.operator_id, name: note.operator_name },
  created_at: note.created_at.toISOString(),
})
