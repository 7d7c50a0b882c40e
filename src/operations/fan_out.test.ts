import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Call, Response } from './call.ts'
import { fanOut } from './fan_out.ts'
import type { Cells, Runtime } from './runtime.ts'

type Row = { id: string; text: string }
type Page = { data: Row[]; has_more: boolean; next_cursor: string | null }

/** The tickets that all cells list together, if these are the pages of each. */
async function merge(pages: readonly Omit<Page, 'next_cursor'>[], order?: 'asc'): Promise<Page> {
  const all = pages.map((_, cell) => ({ settings: { cell } }) as unknown as Runtime)
  const cells = { home: all[0], all } as unknown as Cells
  const call = {
    operation: 'operator_list_tickets',
    request: {},
    readInput: async () => (order === undefined ? {} : { order }),
  } as unknown as Call
  const respond = async ({ settings }: Runtime) =>
    ({ status: 200, body: JSON.stringify(pages[settings.cell]) }) as Response
  const response = await fanOut(cells, call, respond)
  return JSON.parse(response?.body ?? '') as Page
}

const rowsOf = (...ids: number[]): Row[] => ids.map((id) => ({ id: `tkt_${id}`, text: '' }))
const idsIn = ({ data }: Page) => data.map(({ id }) => id)

test('rows behind the end of a page that ended early wait for the rows that it lacks', async () => {
  const newest = await merge([
    { data: rowsOf(9, 7), has_more: true },
    { data: rowsOf(8, 6, 5), has_more: false },
  ])
  assert.deepEqual(idsIn(newest), ['tkt_9', 'tkt_8', 'tkt_7'])
  assert.ok(newest.has_more && newest.next_cursor !== null)
  const oldest = await merge(
    [
      { data: rowsOf(1, 3), has_more: true },
      { data: rowsOf(2, 4), has_more: false },
    ],
    'asc',
  )
  assert.deepEqual(idsIn(oldest), ['tkt_1', 'tkt_2', 'tkt_3'])
})

test('pages that are complete are merged completely', async () => {
  const page = await merge([
    { data: rowsOf(9, 6), has_more: false },
    { data: rowsOf(8, 7), has_more: false },
  ])
  assert.deepEqual(idsIn(page), ['tkt_9', 'tkt_8', 'tkt_7', 'tkt_6'])
  assert.deepEqual([page.has_more, page.next_cursor], [false, null])
})

test('pages of many cells with long texts make no response above the limit', async () => {
  const text = 'x'.repeat(1_500_000)
  const page = await merge(
    [9, 8, 7].map((id) => ({ data: [{ id: `tkt_${id}`, text }], has_more: false })),
  )
  assert.deepEqual(idsIn(page), ['tkt_9'])
  assert.ok(page.has_more && page.next_cursor !== null)
})
