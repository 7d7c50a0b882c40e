import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Statement } from '#contract/statements.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { readPdf } from '#test/support/pdf.ts'
import { openAccount } from '#test/support/people.ts'
import { authorize, follow, forceCapture } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'
import { fund } from '#test/support/topups.ts'
import { endOnChain, requested } from '#test/support/withdrawals.ts'

const service = await startTestService()
const { url } = service

const this_month = () => new Date().toISOString().slice(0, 7)

async function statements(bearer: string, query = ''): Promise<Statement[]> {
  const reply = await send(url, 'GET', `/v1/statements${query}`, { bearer })
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data
}

async function startedAgo(account_id: string, months: number): Promise<void> {
  const now = new Date()
  const at = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 15))
  await service.owner_db.run('update accounts set created_at = $2 where id = $1', [account_id, at])
}

/** A bit of everything: $100 in, $30 out, $20 spent, $5 back, $10 on hold. */
async function busyAccount(): Promise<{ key: string; account_id: string }> {
  const holder = await openHolder(service)
  const { key } = holder
  await fund(url, key, 100)
  const card = await issueCard(url, key, { load_usd: 50, name: 'Books' })
  const spender = { key, card }
  const { id } = await authorize(url, spender, { amount: 20, merchant_name: '=Books "R" Us' })
  await follow(url, spender, { id, verb: 'capture' })
  await follow(url, spender, { id, verb: 'refund', amount: 5 })
  await authorize(url, spender, { amount: 10 })
  await requested({ url, bearer: key }, 30)
  return holder
}

const busy = await busyAccount()

test('a statement shows each kind once, and closes at the total of get_balance', async () => {
  const { key } = busy
  const [statement, ...others] = await statements(key)
  assert.deepEqual(others, [])
  const file = `${service.runtime.settings.public_url}/files/statements/${this_month()}`
  assert.deepEqual(statement, {
    period: this_month(),
    is_final: false,
    opening_usd: 0,
    deposits_usd: 100,
    withdrawals_usd: -29,
    spent_usd: -20,
    refunds_usd: 5,
    disputes_usd: 0,
    fees_usd: -1,
    other_usd: 0,
    closing_usd: 55,
    csv_url: `${file}.csv`,
    pdf_url: `${file}.pdf`,
  })
  const balance = await send(url, 'GET', '/v1/balance', { bearer: key })
  assert.equal(balance.body.total_usd, 55)
})

test('a failed withdrawal comes back with its fee', async () => {
  const { key } = await openHolder(service, 50)
  const account = { url, bearer: key }
  const { id } = await requested(account, 20)
  await endOnChain(account, id, 'fail')
  const [statement] = await statements(key)
  assert.deepEqual([statement?.withdrawals_usd, statement?.fees_usd], [0, 0])
})

test('a purchase that the card cannot pay counts when its debt is paid', async () => {
  const holder = await openHolder(service)
  await fund(url, holder.key, 10)
  const card = await issueCard(url, holder.key, { load_usd: 10 })
  await forceCapture(url, { key: holder.key, card }, { amount: 25 })
  const [owing] = await statements(holder.key)
  assert.deepEqual([owing?.spent_usd, owing?.other_usd, owing?.closing_usd], [-10, 0, 0])
  await fund(url, holder.key, 40)
  const [paid] = await statements(holder.key)
  assert.deepEqual([paid?.spent_usd, paid?.other_usd, paid?.closing_usd], [-10, -15, 25])
})

test('there is one statement per month since the account began, final once its month is over', async () => {
  const { bearer, account_id } = await openAccount(url)
  await startedAgo(account_id, 30)
  const all = await statements(bearer, '?limit=100')
  assert.equal(all.length, 31)
  assert.equal(all[0]?.period, this_month())
  assert.deepEqual([...new Set(all.map(({ is_final }) => is_final))], [false, true])
  const oldest_first = await statements(bearer, '?limit=100&order=asc')
  assert.deepEqual(oldest_first, all.toReversed())
  const paged: Statement[] = []
  let cursor = ''
  do {
    const { body } = await send(url, 'GET', `/v1/statements?limit=7${cursor}`, { bearer })
    paged.push(...body.data)
    cursor = body.has_more ? `&cursor=${body.next_cursor}` : ''
  } while (cursor !== '')
  assert.deepEqual(paged, all)
  const since = all[4]?.period ?? ''
  const bounded = await statements(bearer, `?created_gte=${since}-01T00:00:00.000Z`)
  assert.deepEqual(bounded, all.slice(0, 5))
  const before = await statements(bearer, `?created_lt=${since}-01T00:00:00.000Z&limit=100`)
  assert.deepEqual(before, all.slice(5))
})

test('a cursor of another list or order is refused', async () => {
  const { bearer, account_id } = await openAccount(url)
  await startedAgo(account_id, 3)
  const first = await send(url, 'GET', '/v1/statements?limit=1', { bearer })
  for (const cursor of [`${first.body.next_cursor}&order=asc`, 'nonsense']) {
    const reply = await send(url, 'GET', `/v1/statements?limit=1&cursor=${cursor}`, { bearer })
    assert.deepEqual([reply.status, reply.body.error], [400, 'invalid_cursor'])
  }
})

test('the CSV file has one row per movement and neutralized formulas', async () => {
  const { key } = busy
  const path = `/files/statements/${this_month()}.csv`
  const { status, headers, text } = await send(url, 'GET', path, { bearer: key })
  assert.equal(status, 200, text)
  assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
  assert.equal(
    headers.get('content-disposition'),
    `attachment; filename="statement-${this_month()}.csv"`,
  )
  const lines = text.trimEnd().split('\n')
  assert.equal(lines[0], 'date,type,description,card_last4,amount_usd,balance_usd,reference_id')
  const day = new Date().toISOString().slice(0, 10)
  const figures = lines.slice(1).map((line) => line.replace(day, 'day').split(',')[1])
  assert.deepEqual(figures, ['deposits', 'spent', 'refunds', 'withdrawals', 'fees'])
  assert.match(lines[2] ?? '', /,spent,"'=Books ""R"" Us",\d{4},-20\.00,80\.00,txn_/)
  assert.match(lines[5] ?? '', /,fees,Withdrawal fee,,-1\.00,55\.00,wd_/)
})

test('the PDF file has the sums and every movement', async () => {
  const { key } = busy
  const response = await fetch(`${url}/files/statements/${this_month()}.pdf`, {
    headers: { authorization: `Bearer ${key}` },
  })
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'application/pdf')
  const [page = []] = readPdf(Buffer.from(await response.arrayBuffer()))
  const after = (label: string) => page[page.indexOf(label) + 1]
  assert.equal(after('Opening balance'), '$0.00')
  assert.equal(after('Purchases'), '-$20.00')
  assert.equal(after('Fees'), '-$1.00')
  assert.equal(after('Closing balance'), '$55.00')
  assert.ok(page.includes('=Books "R" Us'))
  assert.ok(page.includes('-$29.00'))
})

test('a file of another month, another name or without a bearer is refused', async () => {
  const { key } = busy
  const status = async (name: string, bearer?: string) =>
    (await send(url, 'GET', `/files/statements/${name}`, { bearer })).status
  assert.equal(await status('2001-01.csv', key), 404)
  assert.equal(await status('2001-13.csv', key), 404)
  assert.equal(await status(`${this_month()}.exe`, key), 404)
  assert.equal(await status(`${this_month()}.csv`), 401)
})

test("a statement has nothing of another account's movements", async () => {
  const { bearer } = await openAccount(url)
  const [statement] = await statements(bearer)
  assert.deepEqual([statement?.deposits_usd, statement?.closing_usd], [0, 0])
  const file = await send(url, 'GET', `/files/statements/${this_month()}.csv`, { bearer })
  assert.equal(file.text.split('\n').length, 2)
})

test('a month whose movements are archived has no statement and no file, and later ones are as before', async () => {
  const { key, account_id } = await openHolder(service)
  await fund(url, key, 20)
  await startedAgo(account_id, 3)
  const before = await statements(key)
  assert.equal(before.length, 4)
  const kept = before[1]?.period ?? ''
  const setFloor = (floor: string, since: string) =>
    service.owner_db.run(
      `update history_floors set floor = $1, since = $2 where history = 'money'`,
      [floor, since],
    )
  await setFloor('0', `${kept}-01T00:00:00Z`)
  try {
    assert.deepEqual(await statements(key), before.slice(0, 2))
    const file = `/files/statements/${before[2]?.period}.csv`
    assert.equal((await send(url, 'GET', file, { bearer: key })).status, 404)
    const from = `${before[2]?.period}-01`
    const query = new URLSearchParams({ from, to: `${kept}-02`, group_by: 'day' })
    const reply = await send(url, 'GET', `/v1/spending?${query}`, { bearer: key })
    assert.equal(reply.status, 400, reply.text)
    assert.match(reply.text, new RegExp(`must not be before ${kept}-01: earlier transactions`))
  } finally {
    await setFloor('', '-infinity')
  }
})
