import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { collectDownloads } from '#panel/test_support/downloads.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { page as pageOf, row } from '#panel/test_support/samples.ts'
import { Statements } from './statements.tsx'

const statement = row('list_statements', { period: '2026-10', is_final: true })
const line = {
  agent: 'You',
  client_id: null,
  spent_usd: -10.1,
  refunds_usd: 0.2,
  withdrawals_usd: -5,
  fees_usd: -1,
  total_usd: -15.9,
  loaded_usd: 30,
  unloaded_usd: 10,
}
const AGENTS = 'GET /files/statements/2026-10.agents.json'

test('a month is downloaded as CSV and PDF under a name that says which', async (t) => {
  const downloads = collectDownloads(t)
  serve(t, {
    list_statements: pageOf([statement]),
    'GET /files/statements/2026-10.csv': new Response('csv'),
    'GET /files/statements/2026-10.pdf': new Response('pdf'),
  })
  const page = await open(t, Statements, {})
  await page.click('button', 'Download CSV of October 2026')
  await page.click('button', 'Download PDF of October 2026')
  const names = (await downloads()).map(({ name }) => name)
  assert.deepEqual(names, ['statement-2026-10.csv', 'statement-2026-10.pdf'])
})

test('download_button: a failed download says why and can be repeated', async (t) => {
  const downloads = collectDownloads(t)
  const service = serve(t, {
    list_statements: pageOf([statement]),
    'GET /files/statements/2026-10.csv': refuse('not_found', 'No such statement.'),
  })
  const page = await open(t, Statements, {})
  await page.click('button', 'Download CSV of October 2026')
  assert.deepEqual(page.toasts(), ['No such statement.'])
  service.answer({ 'GET /files/statements/2026-10.csv': new Response('csv') })
  await page.click('button', 'Download CSV of October 2026')
  assert.equal((await downloads()).length, 1)
})

test('amounts: an opened month goes from opening to closing balance, without kinds it did not have', async (t) => {
  const month = { ...statement, opening_usd: 5, closing_usd: 95, fees_usd: 0, deposits_usd: 90 }
  serve(t, { list_statements: pageOf([month as never]), [AGENTS]: { data: [line] } })
  const page = await open(t, Statements, {})
  await page.click('button', 'Amounts of October 2026')
  const terms = page.names('term')
  assert.equal(terms[0], 'Opening balance')
  assert.equal(terms.at(-1), 'Closing balance')
  assert(!terms.includes('Fees'))
})

test('by_agent: refunds and fees are part of their columns, and the table can be downloaded', async (t) => {
  const downloads = collectDownloads(t)
  const agent = { ...line, agent: 'Shopper', client_id: 'client_1' }
  serve(t, {
    list_statements: pageOf([statement]),
    [AGENTS]: { data: [line, agent] },
    'GET /files/statements/2026-10.agents.csv': new Response('csv'),
  })
  const page = await open(t, Statements, {})
  await page.click('button', 'Amounts of October 2026')
  assert.match(page.text(), /Shopper \$20\.00 −\$9\.90 −\$6\.00 −\$15\.90/)
  await page.click('button', 'Download CSV by agent of October 2026')
  assert.equal((await downloads())[0]?.name, 'statement-2026-10.agents.csv')
})

test('an account without statements says what will appear', async (t) => {
  serve(t, { list_statements: pageOf([]) })
  const page = await open(t, Statements, {})
  assert.match(page.text(), /No statements/)
})
