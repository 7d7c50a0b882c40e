import type { OperatorHandler } from '#domain/operators/operator.ts'
import { getAdministeredAccount } from './administered_account.ts'
import { insertNote, noteView } from './note_store.ts'

/** Only operators see notes, so the account's own audit log has no entry. */
export const operatorAddNote: OperatorHandler<'operator_add_note'> = async (
  context,
  { id: account_id, body },
) => {
  const { tx, now, newId, operator } = context
  await getAdministeredAccount(context, account_id)
  const note = {
    account_id,
    id: newId('note'),
    operator_id: operator.id,
    operator_name: operator.name,
    body,
    created_at: now,
  }
  await insertNote(tx, note)
  return noteView(note)
}
