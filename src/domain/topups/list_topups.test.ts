import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Topup } from '#contract/topups.ts'
import { assertRefused } from '#test/support/calls.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { awaitedTopup, onChain } from '#test/support/topups.ts'

const { url } = await startTestService()
const { bearer } = await openAccount(url)

async function listIds(query: string, as = bearer): Promise<string[]> {
  const reply = await send(url, 'GET', `/v1/topups?${query}`, { bearer: as })
  assert.equal(reply.status, 200, reply.text)
  return (reply.body['data'] as Topup[]).map(({ id }) => id)
}

test('filters by status, asset, chain and txid, newest first, within the account', async () => {
  const [old, late] = [await awaitedTopup(url, bearer), await awaitedTopup(url, bearer)]
  const { txid } = await onChain({ url, bearer, id: old.id }, 'deposit', { amount_usd: 5 })
  assert.deepEqual(await listIds(''), [late.id, old.id])
  assert.deepEqual(await listIds('order=asc'), [old.id, late.id])
  assert.deepEqual(await listIds('status=pending'), [late.id])
  assert.deepEqual(await listIds('status=awaiting,confirming'), [late.id, old.id])
  assert.deepEqual(await listIds('status=completed'), [])
  assert.deepEqual(await listIds(`txid=${txid}`), [old.id])
  assert.deepEqual(await listIds('asset=USDT&chain=tron'), [late.id, old.id])
  assert.deepEqual(await listIds('chain=base'), [])
  assert.deepEqual(await listIds(`created_gt=${old.created_at}`), [late.id])
  assert.deepEqual(await listIds('', (await openAccount(url)).bearer), [])
})

test('refuses unknown parameters, statuses and cursors', async () => {
  const list = (query: string) => send(url, 'GET', `/v1/topups?${query}`, { bearer })
  assertRefused(await list('state=awaiting'), 400, 'unknown_parameter')
  assertRefused(await list('status=lost'), 400, 'invalid_request')
  assertRefused(await list('cursor=abc'), 400, 'invalid_cursor')
})

test('a cursor continues after the last row although new rows were added', async () => {
  const list = (query: string) => send(url, 'GET', `/v1/topups?limit=1${query}`, { bearer })
  const first = await list('')
  await awaitedTopup(url, bearer)
  const next = await list(`&cursor=${first.body['next_cursor']}`)
  const [one, two] = [first, next].map(({ body }) => (body['data'] as Topup[])[0]?.id)
  assert.notEqual(one, two)
  assert.equal(next.body['has_more'], false)
})
