import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cellOfId } from '#kernel/id.ts'
import { assertRefused } from '#test/support/calls.ts'
import { startTestCells } from '#test/support/cells.ts'
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
