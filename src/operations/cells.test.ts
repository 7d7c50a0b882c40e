import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cellOfId } from '#kernel/id.ts'
import { DatabaseUnavailable } from '#platform/postgres/db.ts'
import { assertRefused } from '#test/support/calls.ts'
import { issueCard } from '#test/support/cards.ts'
import { openHolderInCell, startTestCells } from '#test/support/cells.ts'
import { send } from '#test/support/http.ts'
import { openAccount, PASSWORD } from '#test/support/people.ts'

const FLORIN_RISK = JSON.stringify({ velocity: { create_account: { ip_per_day: 4 } } })
const { url, cells } = await startTestCells([1], new Map(), { FLORIN_RISK })

const listed = async () => (await cells.home.db.rows('select from directory_emails')).length

test('a sign-up that is refused anyway is not listed in the directory', async () => {
  const body = { email: 'ada@example.com', password: PASSWORD }
  const invalid = [
    { body: { ...body, email: 'a\u0000da@example.com' } },
    { body: { ...body, zzz: 1 } },
    { body, key: 'with a space' },
  ]
  for (const sent of invalid) {
    assert.equal((await send(url, 'POST', '/v1/accounts', sent)).status, 400)
  }
  assert.equal(await listed(), 0)
})

test('daily sign-ups of an address are limited over all cells together', async () => {
  const opened = [await openAccount(url), await openAccount(url)]
  opened.push(await openAccount(url), await openAccount(url))
  assert.deepEqual(opened.map(({ account_id }) => cellOfId(account_id)).sort(), [0, 0, 1, 1])
  const body = { email: 'fifth@example.com', password: PASSWORD }
  assertRefused(await send(url, 'POST', '/v1/accounts', { body }), 429, 'rate_limited')
  assert.equal(await listed(), 4)
})

/** Tickets that an address may open three times a day, for accounts of both cells. */
async function startLimited() {
  const velocity = { open_ticket: { ip_per_day: 3 } }
  const service = await startTestCells([1], new Map(), {
    FLORIN_RISK: JSON.stringify({ velocity }),
  })
  const people = [await openHolderInCell(service), await openHolderInCell(service)]
  const [first, second] = people.toSorted((a, b) => cellOfId(a.account_id) - cellOfId(b.account_id))
  assert(first !== undefined && second !== undefined)
  const body = { subject: 'Card', message: 'Where is my card?', category: 'card' }
  const open = (bearer: string, key?: string) =>
    send(service.url, 'POST', '/v1/tickets', { bearer, body, ...(key && { key }) })
  const counted = async () =>
    (await service.cells.home.db.rows<{ count: number }>('select count from velocities')).map(
      ({ count }) => count,
    )
  return { ...service, first, second, open, counted }
}

test('a daily limit of an address counts its calls in all cells together', async () => {
  const { url: limited_url, first, second, open, counted } = await startLimited()
  for (const { key: bearer } of [second, first]) {
    // Without a card the ticket is refused, which does not count.
    assert.equal((await open(bearer)).status, 403)
    await issueCard(limited_url, bearer)
  }
  assert.deepEqual(await counted(), [0])
  assert.equal((await open(second.key, 'one')).status, 201)
  assert.equal((await open(first.key)).status, 201)
  assert.equal((await open(second.key)).status, 201)
  for (const { key: bearer } of [first, second]) {
    assertRefused(await open(bearer), 429, 'rate_limited')
  }
  const again = await open(second.key, 'one')
  assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [201, 'true'])
  assert.deepEqual(await counted(), [3])
})

test('copies of a call under one key that arrive together count once', async () => {
  const { url: limited_url, second, open, counted } = await startLimited()
  await issueCard(limited_url, second.key)
  const replies = await Promise.all([open(second.key, 'same'), open(second.key, 'same')])
  assert(replies.some(({ status }) => status === 201))
  assert.deepEqual(await counted(), [1])
})

test('while cell 0 is down, the cell of the account counts the calls of an address', async () => {
  const { url: limited_url, second, open, counted, cells: both } = await startLimited()
  await issueCard(limited_url, second.key)
  const transaction = () => Promise.reject(new DatabaseUnavailable('cell 0 is down'))
  const home_db = both.home.db
  both.home.db = { ...home_db, transaction }
  for (let time = 0; time < 3; time += 1) assert.equal((await open(second.key)).status, 201)
  assertRefused(await open(second.key), 429, 'rate_limited')
  both.home.db = home_db
  assert.deepEqual(await counted(), [])
})
