import Type from 'typebox'
import { Id, Input, Page, pageQuery, Text, Timestamp } from '#contract/shapes.ts'
import { operatorOperation } from './operation.ts'

const AccountId = Id('acct', 'ID of the account.')

const AccountNote = Type.Object(
  {
    id: Id('note', 'ID of the note.'),
    account_id: AccountId,
    body: Type.String({ description: 'Text of the note.' }),
    author: Type.Object(
      {
        id: Type.String({ description: 'ID of the operator.' }),
        name: Type.String({ description: 'Name of the operator when the note was written.' }),
      },
      { description: 'The operator who wrote it.' },
    ),
    created_at: Timestamp('Time it was written.'),
  },
  { description: 'A note of operators about an account. Customers never see it.' },
)
export type AccountNote = Type.Static<typeof AccountNote>

export const operator_list_notes = operatorOperation({
  name: 'operator_list_notes',
  method: 'GET',
  path: '/accounts/{id}/notes',
  role: 'viewer',
  summary: 'List the notes of operators about an account.',
  input: Input({ id: AccountId, ...pageQuery }),
  output: Page(AccountNote),
})

export const operator_add_note = operatorOperation({
  name: 'operator_add_note',
  method: 'POST',
  path: '/accounts/{id}/notes',
  role: 'support',
  summary: 'Write a note about an account. Notes cannot be changed or deleted.',
  input: Input({
    id: AccountId,
    body: Text('Text of the note.', 5_000, 'Called about a lost parcel.'),
  }),
  output: AccountNote,
})
