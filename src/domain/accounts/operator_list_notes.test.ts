import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { operatorAddNote } from './operator_add_note.ts'
import { operatorListNotes } from './operator_list_notes.ts'

const room = await openMoneyRoom()
type Filter = Omit<Parameters<typeof operatorListNotes>[1], 'id'>
const add = (id: string, body: string) =>
  room.operate((context) => operatorAddNote(context, { id, body }))
const list = async (id: string, input: Filter = {}) =>
  (await room.operate((context) => operatorListNotes(context, { id, ...input }))).value

test('lists the notes of one account with their authors, newest first, page by page', async () => {
  const [id, other] = [await room.openAccount(), await room.openAccount()]
  for (const body of ['First', 'Second', 'Third']) await add(id, body)
  await add(other, 'Somebody else')
  const page = await list(id, { limit: 2 })
  assert.deepEqual([page.data.map(({ body }) => body), page.has_more], [['Third', 'Second'], true])
  const rest = await list(id, { limit: 2, cursor: page.next_cursor ?? '' })
  assert.deepEqual(
    rest.data.map(({ body, author, created_at }) => [body, author, created_at]),
    [['First', { id: 'op_1', name: 'Olga' }, room.clock.now().toISOString()]],
  )
})

test('refuses an unknown account instead of showing an empty list', async () => {
  await assert.rejects(list('acct_unknown'), { code: 'not_found' })
})
