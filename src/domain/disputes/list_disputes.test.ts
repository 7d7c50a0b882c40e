import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '#test/support/calls.ts'
import { fileDispute, openBuyer } from '#test/support/disputes.ts'
import { send } from '#test/support/http.ts'
import { operate } from '#test/support/operator.ts'
import { forceCapture } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url } = service

const list = (bearer: string, query = '') => send(url, 'GET', `/v1/disputes${query}`, { bearer })
const idsIn = ({ body }: { body: { data: { id: string }[] } }) => body.data.map(({ id }) => id)

test('lists disputes newest first, in pages, and filters them', async () => {
  const buyer = await openBuyer(service, 10)
  const captures = [buyer.capture, await forceCapture(url, buyer, { amount: 3 })]
  captures.push(await forceCapture(url, buyer, { amount: 4 }))
  const ids: string[] = []
  for (const capture of captures) ids.push((await fileDispute(url, { ...buyer, capture })).id)
  const close = (id: string | undefined, outcome: string) =>
    operate(url, 'POST', `/disputes/${id}/close`, { body: { outcome } })
  await close(ids[0], 'won')
  await close(ids[1], 'lost')
  const { key } = buyer
  assert.deepEqual(idsIn(await list(key)), ids.toReversed())
  assert.deepEqual(idsIn(await list(key, '?status=closed&order=asc')), ids.slice(0, 2))
  assert.deepEqual(idsIn(await list(key, '?outcome=lost')), [ids[1]])
  assert.deepEqual(idsIn(await list(key, `?transaction_id=${captures[2]?.id}`)), [ids[2]])
  assert.deepEqual(idsIn(await list(key, `?card_id=${buyer.card.id}`)), ids.toReversed())
  assert.deepEqual(idsIn(await list(key, '?card_id=card_01kc3z8e5xf8m9r4t2v6w7y8za')), [])
  const first = await list(key, '?limit=2')
  const rest = await list(key, `?limit=2&cursor=${first.body['next_cursor']}`)
  assert.deepEqual([...idsIn(first), ...idsIn(rest)], ids.toReversed())
})

test("another account's disputes are not listed", async () => {
  const owner = await openBuyer(service, 10)
  const stranger = await openBuyer(service, 10)
  await fileDispute(url, owner)
  assert.deepEqual(idsIn(await list(stranger.key)), [])
})

test('an unknown filter or value is refused', async () => {
  const { key } = await openBuyer(service, 10)
  assertRefused(await list(key, '?reason=other'), 400, 'unknown_parameter')
  assertRefused(await list(key, '?outcome=draw'), 400, 'invalid_request')
})

test('a page with long notes ends early, and the next one continues', async () => {
  const buyer = await openBuyer(service, 10)
  const captures = [buyer.capture, await forceCapture(url, buyer, { amount: 3 })]
  captures.push(await forceCapture(url, buyer, { amount: 4 }))
  const ids: string[] = []
  for (const capture of captures) ids.push((await fileDispute(url, { ...buyer, capture })).id)
  const { db, newId, clock } = service.runtime
  for (const id of ids) {
    for (let count = 0; count < 20; count += 1) {
      await db.run(
        `insert into evidence (account_id, dispute_id, id, kind, note, created_at)
         select account_id, id, $2, 'note', $3, now() from disputes where id = $1`,
        [id, newId('evd', clock.now()), '😀'.repeat(10_000)],
      )
    }
  }
  const first = await list(buyer.key)
  assert.deepEqual(idsIn(first), ids.slice(1).reverse(), '1.6 of at most 2 MB')
  const rest = await list(buyer.key, `?cursor=${first.body['next_cursor']}`)
  assert.deepEqual(idsIn(rest), ids.slice(0, 1))
  assert.equal(rest.body['has_more'], false)
})
