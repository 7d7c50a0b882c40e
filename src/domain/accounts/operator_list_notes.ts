import type { OperatorHandler } from '#domain/operators/operator.ts'
import { equals, mapPage } from '#platform/postgres/page.ts'
import { getAdministeredAccount } from './administered_account.ts'
import { noteView, readNotePage } from './note_store.ts'

export const operatorListNotes: OperatorHandler<'operator_list_notes'> = async (
  context,
  { id, ...input },
) => {
  await getAdministeredAccount(context, id)
  const page = await readNotePage(context.tx, {
    operation: 'operator_list_notes',
    where: [...equals('account_id', id)],
    input,
  })
  return mapPage(page, noteView)
}
