import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Withdrawal } from '#contract/withdrawals.ts'
import { send } from '#test/support/http.ts'
import { fundTreasury } from '#test/support/money.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { endOnChain, requested, WALLET } from '#test/support/withdrawals.ts'

const service = await startTestService()
const { url } = service
const person = await openAccount(url)
const account = { url, bearer: person.bearer }
await fundTreasury(service.runtime.db, person.account_id, 1_000)

async function listed(query: string, bearer = person.bearer): Promise<Withdrawal[]> {
  const reply = await send(url, 'GET', `/v1/withdrawals?${query}`, { bearer })
  assert.equal(reply.status, 200, reply.text)
  return reply.body['data']
}

const ids = (rows: readonly Withdrawal[]) => rows.map(({ id }) => id)

test('filters by status, address and txid, newest first, within the account', async () => {
  const done = await endOnChain(account, (await requested(account, 20)).id, 'confirm')
  const failed = await endOnChain(account, (await requested(account, 30)).id, 'fail')
  assert.deepEqual(ids(await listed('')), [failed.id, done.id])
  assert.deepEqual(ids(await listed('order=asc')), [done.id, failed.id])
  assert.deepEqual(ids(await listed('status=completed')), [done.id])
  assert.deepEqual(ids(await listed('status=completed,failed')), [failed.id, done.id])
  assert.deepEqual(ids(await listed(`txid=${done.txid}`)), [done.id])
  assert.equal((await listed(`address=${WALLET}`)).length, 2)
  assert.equal((await listed('address=TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C')).length, 0)
  assert.deepEqual(await listed('', (await openAccount(url)).bearer), [])
})

test('a cursor neither repeats nor skips rows while new ones are added', async () => {
  const first = await send(url, 'GET', '/v1/withdrawals?limit=1', { bearer: person.bearer })
  await requested(account, 10)
  const cursor = first.body['next_cursor']
  const next = await send(url, 'GET', `/v1/withdrawals?limit=1&cursor=${cursor}`, {
    bearer: person.bearer,
  })
  const [one, two] = [first.body['data'][0]?.['id'], next.body['data'][0]?.['id']]
  assert.notEqual(one, two)
  assert.equal(next.body['has_more'], false)
})
