import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Failpoint } from '#platform/runtime/failpoints.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { startCrashing } from '#test/support/crashing_node.ts'
import { assertEventsAreWhole } from '#test/support/event_proofs.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Reply, send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { startTestService } from '#test/support/start.ts'

const POINTS: readonly Failpoint[] = ['after_handler', 'before_commit', 'after_commit']

const service = await startTestService()
const { url, owner_db } = service

type Operation = { path(card_id: string): string; body: object; movement: string }

const operations: Readonly<Record<string, Operation>> = {
  load_card: {
    path: (id) => `/v1/cards/${id}/load`,
    body: { amount_usd: 7 },
    movement: 'card_loaded',
  },
  unload_card: {
    path: (id) => `/v1/cards/${id}/unload`,
    body: { amount_usd: 7 },
    movement: 'card_unloaded',
  },
  cancel_card: { path: (id) => `/v1/cards/${id}/cancel`, body: {}, movement: 'card_unloaded' },
  issue_card: {
    path: () => '/v1/cards',
    body: { type: 'virtual', load_usd: 20 },
    movement: 'card_loaded',
  },
}

/** Repeats the call as a client does while the dead node's session may still hold the key. */
async function repeatCall(call: () => Promise<Reply>): Promise<Reply> {
  let reply = await call()
  const isFree = async () => {
    if (reply.body['error'] !== 'idempotency_in_progress') return true
    reply = await call()
    return false
  }
  assert(await eventually(isFree, { within_ms: 10_000 }), reply.text)
  return reply
}

for (const point of POINTS) {
  for (const [name, { path, body, movement }] of Object.entries(operations)) {
    test(`${name}, killed ${point}, moved its money completely or not at all`, async () => {
      const holder = await openHolder(service, 200)
      const card = await issueCard(url, holder.key, { load_usd: 50 })
      const countMoves = async () => {
        const [row] = await owner_db.rows<{ count: bigint }>(
          'select count(*) from movements where account_id = $1 and movement = $2',
          [holder.account_id, movement],
        )
        return Number(row?.count)
      }
      const before = await countMoves()
      const key = randomUUID()
      const call = (at: string): Promise<Reply> =>
        // A key's first use commits an audit entry before the call itself; a session's does not.
        send(at, 'POST', path(card.id), { bearer: holder.bearer, body, key })
      const node = await startCrashing(point, {
        FLORIN_DATA_DIR: service.data_dir,
        FLORIN_DATABASE_URL: service.database_url,
      })
      await node.arm()
      await assert.rejects(call(node.url), TypeError)
      await node.died
      const moved = (await countMoves()) - before
      assert.equal(moved, point === 'after_commit' ? 1 : 0)
      const retried = await repeatCall(() => call(url))
      assert(retried.status < 300, retried.text)
      assert.equal(retried.headers.get('idempotent-replayed'), moved === 1 ? 'true' : null)
      assert.equal((await countMoves()) - before, 1)
    })
  }
}

test('after all of it books, events and audit chains are whole', async () => {
  await assertBooksSound(owner_db)
  await assertEventsAreWhole(owner_db)
})
