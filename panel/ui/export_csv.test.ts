import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { collectDownloads } from '#panel/test_support/downloads.ts'
import { no_response, refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row } from '#panel/test_support/samples.ts'
import { ExportCsv } from './export_csv.tsx'

const example = row('list_topups')
const topups = [1, 2, 3].map((at) => ({
  ...example,
  id: example.id.replace(/.$/, String(at)),
  amount_usd: at * 10,
}))
const [one = example, two = example, three = example] = topups

type Row = typeof example
const props = {
  name: 'list_topups' as const,
  input: { status: 'completed' },
  columns: [
    ['ID', ({ id }: Row) => id],
    ['Amount', ({ amount_usd }: Row) => amount_usd],
  ] as const,
  file_name: 'topups.csv',
}

test('all pages of the filtered list are in the file, without rows that are left out', async (t) => {
  const downloads = collectDownloads(t)
  const service = serve(t, {
    list_topups: ({ cursor }) =>
      cursor === undefined ? pageOf([one, two], 'page_2') : pageOf([three]),
  })
  const keep = ({ id }: Row) => id !== two.id
  const page = await open(t, ExportCsv<'list_topups'>, { ...props, keep })
  await page.click('button', 'Export CSV')
  const [file] = await downloads()
  assert.equal(file?.name, 'topups.csv')
  assert.deepEqual(file?.text.trim().split('\n'), ['ID,Amount', `${one.id},10`, `${three.id},30`])
  assert.deepEqual(service.sent('list_topups'), [
    { status: 'completed', limit: 100 },
    { status: 'completed', limit: 100, cursor: 'page_2' },
  ])
  assert(page.has('button', 'Export CSV'))
})

test('an export shows its progress and can be canceled without a file', async (t) => {
  const downloads = collectDownloads(t)
  serve(t, {
    list_topups: ({ cursor }) => (cursor === undefined ? pageOf([one], 'page_2') : no_response),
  })
  const page = await open(t, ExportCsv<'list_topups'>, props)
  await page.click('button', 'Export CSV')
  assert.match(page.get('status').textContent ?? '', /1 row…/)
  await page.click('button', 'Cancel')
  assert(page.has('button', 'Export CSV'))
  assert.deepEqual([await downloads(), page.toasts()], [[], []])
})

test('a failed export says why and saves nothing', async (t) => {
  const downloads = collectDownloads(t)
  serve(t, { list_topups: refuse('account_suspended', 'Your account is suspended.') })
  const page = await open(t, ExportCsv<'list_topups'>, props)
  await page.click('button', 'Export CSV')
  assert.deepEqual(page.toasts(), ['Your account is suspended.'])
  assert.deepEqual(await downloads(), [])
})
