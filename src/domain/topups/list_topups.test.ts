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

async function found(query: string, who = bearer): Promise<string[]> {
  const reply = await send(url, 'GET', `/v1/topups?${query}`, { bearer: who })
  assert.equal(reply.status, 200, reply.text)
  return (reply.body['data'] as Topup[]).map(({ id }) => id)
}

test('finds by state, asset, chain and transfer, newest first, and only its own', async () => {
  const [old, late] = [await awaitedTopup(url, bearer), await awaitedTopup(url, bearer)]
  const { txid } = await onChain({ url, bearer, id: old.id }, 'deposit', { amount_usd: 5 })
  assert.deepEqual(await found(''), [late.id, old.id])
  assert.deepEqual(await found('order=asc'), [old.id, late.id])
  assert.deepEqual(await found('status=pending'), [late.id])
  assert.deepEqual(await found('status=awaiting,confirming'), [late.id, old.id])
  assert.deepEqual(await found('status=completed'), [])
  assert.deepEqual(await found(`txid=${txid}`), [old.id])
  assert.deepEqual(await found('asset=USDT&chain=tron'), [late.id, old.id])
  assert.deepEqual(await found('chain=base'), [])
  assert.deepEqual(await found(`created_gt=${old.created_at}`), [late.id])
  assert.deepEqual(await found('', (await openAccount(url)).bearer), [])
})

test('refuses what it does not know', async () => {
  const ask = (query: string) => send(url, 'GET', `/v1/topups?${query}`, { bearer })
  assertRefused(await ask('state=awaiting'), 400, 'unknown_parameter')
  assertRefused(await ask('status=lost'), 400, 'invalid_request')
  assertRefused(await ask('cursor=abc'), 400, 'invalid_cursor')
})

test('a cursor goes on where the page ended, though rows were added', async () => {
  const ask = (query: string) => send(url, 'GET', `/v1/topups?limit=1${query}`, { bearer })
  const first = await ask('')
  await awaitedTopup(url, bearer)
  const next = await ask(`&cursor=${first.body['next_cursor']}`)
  const [one, two] = [first, next].map(({ body }) => (body['data'] as Topup[])[0]?.id)
  assert.notEqual(one, two)
  assert.equal(next.body['has_more'], false)
})
