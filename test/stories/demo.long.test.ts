import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import {
  console_lists,
  consoleDetails,
  panel_lists,
  panelDetails,
} from '#test/support/demo_pages.ts'
import {
  florin,
  startFlorin,
  stopAllProcesses,
  temporaryFolder,
} from '#test/support/florin_process.ts'
import { send } from '#test/support/http.ts'
import { everyPage, NO_BROWSER, startBrowser } from '#test/support/panel_page.ts'

const folder = await temporaryFolder()
const env = { FLORIN_DATA_DIR: folder.path }
const browser = await startBrowser()
const skip = browser === null ? NO_BROWSER : false
after(async () => {
  await stopAllProcesses()
  await folder.remove()
})

/** One process serves the filled sandbox to all tests. */
let started: ReturnType<typeof startFlorin> | undefined
const running = () => {
  started ??= startFlorin(env)
  return started
}

test('florin demo fills an empty sandbox with 90 days that end now, and the books are sound', async () => {
  const filled = await florin(['demo'], env)
  assert.equal(filled.code, 0, filled.output)
  assert.match(filled.stdout, /90 days of data/)
  assert.doesNotMatch(filled.output, /"level"/)
  const audit = await florin(['audit', 'books'], env)
  assert.equal(audit.code, 0, audit.output)
})

test('a sandbox with accounts is left as it is', async () => {
  const again = await florin(['demo'], env)
  assert.notEqual(again.code, 0)
  assert.match(again.stderr, /fills an empty sandbox/)
})

test('after florin demo the account has purchases of three months and a case of each kind', async () => {
  const service = await running()
  const demo = JSON.parse(await readFile(join(folder.path, 'demo.json'), 'utf8')) as {
    api_key: string
  }
  const list = async (path: string) => {
    const { status, body, text } = await send(service.url, 'GET', path, { bearer: demo.api_key })
    assert.equal(status, 200, text)
    return body['data'] as { created_at: string; type?: string; status?: string }[]
  }
  const newest = await list('/v1/transactions?limit=1')
  const oldest = await list('/v1/transactions?limit=1&order=asc')
  const age = (row: { created_at: string } | undefined) =>
    (Date.now() - Date.parse(row?.created_at ?? '')) / 86_400_000
  assert(age(newest[0]) < 3, 'the newest purchase is recent')
  assert(age(oldest[0]) > 80, 'the oldest one is about 90 days old')
  assert((await list('/v1/transactions?type=decline')).length > 0)
  assert((await list('/v1/transactions?type=refund')).length > 0)
  const [open, closed, ...more] = await list('/v1/disputes')
  assert.deepEqual([open?.status, closed?.status, more.length], ['open', 'closed', 0])
  assert(age(open) > 4 && age(closed) > 25, 'cases are spread over the days')
  const webhooks = await list('/v1/webhooks')
  assert.deepEqual(
    webhooks.map(({ status }) => status),
    ['disabled'],
    'nothing is sent to an endpoint that no longer listens',
  )
  assert.equal((await list('/v1/tickets')).length, 1)
  assert.equal((await list('/v1/cards?status=frozen')).length, 1)
  assert((await list('/v1/cards?status=cancelled')).length > 0)
  assert.equal((await list('/v1/cards?type=physical')).length, 1)
  const topups = await list('/v1/topups?status=awaiting,cancelled')
  assert.deepEqual(topups.map(({ status }) => status).sort(), ['awaiting', 'cancelled'])
  const withdrawals = await list('/v1/withdrawals')
  assert.deepEqual(withdrawals.map(({ status }) => status).sort(), [
    'completed',
    'failed',
    'pending',
  ])
})

const operatorToken = async () =>
  (await readFile(join(folder.path, 'operator_token'), 'utf8')).trim()

test('after florin demo a deposit, a withdrawal, a clearing and a refund wait for an operator', async () => {
  const { url } = await running()
  const bearer = await operatorToken()
  const waiting = async (path: string) => {
    const { status, body, text } = await send(url, 'GET', `/operator/v1/${path}`, { bearer })
    assert.equal(status, 200, text)
    const [first, ...others] = body['data']
    assert.deepEqual(others, [])
    return first
  }
  const deposit = await waiting('suspense')
  assert.deepEqual([deposit.reason, deposit.amount_usd], ['below_minimum', 0.6])
  const withdrawal = await waiting('withdrawals?status=pending')
  assert.deepEqual([withdrawal.in_review, withdrawal.amount_usd], [true, 650])
  const clearing = await waiting('pending_conversions')
  assert.deepEqual([clearing.amount, clearing.currency], [18_400, 'JPY'])
  const refund = await waiting('held_refunds')
  assert.deepEqual([refund.merchant_name, refund.amount_usd], ['Harvest Fair Tickets', 64.5])
})

const PHONE = 390

test('every page of the panel shows the demo, and every list has a row', { skip }, async () => {
  if (browser === null) return
  const { url } = await running()
  const demo = JSON.parse(await readFile(join(folder.path, 'demo.json'), 'utf8'))
  const { email, password } = demo as { email: string; password: string }
  const session = await send(url, 'POST', '/v1/sessions', { body: { email, password } })
  assert.equal(session.status, 200, session.text)
  const bearer = String(session.body['bearer'])
  const pages = [...panel_lists, ...(await panelDetails(url, bearer))]
  await everyPage(browser, { url, bearer, width: PHONE }, pages)
})

test('every page of the console shows the demo, and every list has a row', { skip }, async () => {
  if (browser === null) return
  const { url } = await running()
  const operator_token = await operatorToken()
  const pages = [...console_lists, ...(await consoleDetails(url, operator_token))]
  await everyPage(browser, { url, operator_token, width: PHONE }, pages)
})

test('after florin demo the account has two agents with budgets, spending and a pending approval', async () => {
  const { url } = await running()
  const { api_key: bearer } = JSON.parse(
    await readFile(join(folder.path, 'demo.json'), 'utf8'),
  ) as { api_key: string }
  const get = async (path: string) => (await send(url, 'GET', path, { bearer })).body['data']
  const grants = (await get('/oauth/grants')) as {
    client_id: string
    client_name: string
    budget: { amount_usd: number }
  }[]
  const budgets = grants.map(({ client_name, budget }) => [client_name, budget.amount_usd])
  assert.deepEqual(Object.fromEntries(budgets), { Shopper: 60, 'Bill payer': 250 })
  const shopper = grants.find(({ client_name }) => client_name === 'Shopper')?.client_id
  const captures = await get(`/v1/transactions?type=capture&agent=${shopper}`)
  assert.equal(captures.length, 14, 'a purchase on each of its days')
  const [approval, ...others] = await get('/v1/approvals?status=pending')
  assert.deepEqual(others, [])
  assert.match(approval.summary, /^Shopper wants to load \$120\.00 onto Shopping agent/)
})
