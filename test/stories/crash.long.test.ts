import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { verifyAudit } from '#main/audit.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import { type Failpoint, failpoints } from '#platform/runtime/failpoints.ts'
import { assertRefused, auditLog } from '#test/support/calls.ts'
import { issueCard } from '#test/support/cards.ts'
import { startCrashing } from '#test/support/crashing_node.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { type Reply, send } from '#test/support/http.ts'
import { createKey, openAccount, PASSWORD } from '#test/support/people.ts'

/** Those that every write of the pipeline passes; the others belong to their own rooms. */
const pipeline_points: readonly Failpoint[] = [
  'before_begin',
  'after_handler',
  'before_commit',
  'after_commit',
  'before_reply',
]
const COMMITTED: readonly Failpoint[] = ['after_commit', 'before_reply']

const clone = await cloneDatabase()
const data_dir = await mkdtemp(join(tmpdir(), 'florin_crash_'))
const db = openDatabase(clone.url, { pool_size: 2 })
after(async () => {
  await db.close()
  await clone.drop()
  await rm(data_dir, { recursive: true, force: true })
})

const startNode = (crash_at: Failpoint | '') =>
  startCrashing(crash_at, { FLORIN_DATA_DIR: data_dir, FLORIN_DATABASE_URL: clone.url })

const countOf = async (sql: string, param: string) => {
  const [row] = await db.rows<{ count: bigint }>(sql, [param])
  return Number(row?.count ?? 0n)
}

const healthy = await startNode('')
after(() => healthy.kill())
const ada = await openAccount(healthy.url)

type Act = { send(url: string): Promise<Reply>; effects(): Promise<number> }

const acts: Record<string, () => Act> = {
  create_account: () => {
    const [key, email] = [randomUUID(), `${randomUUID()}@example.com`]
    return {
      send: (url) =>
        send(url, 'POST', '/v1/accounts', { key, body: { email, password: PASSWORD } }),
      effects: () => countOf('select count(*) from accounts where email = $1', email),
    }
  },
  create_api_key: () => {
    const [key, name] = [randomUUID(), randomUUID()]
    return {
      send: (url) => send(url, 'POST', '/v1/api_keys', { key, bearer: ada.bearer, body: { name } }),
      effects: () => countOf('select count(*) from api_keys where name = $1', name),
    }
  },
}

test('the five failpoints of a write are among those that are listed', () => {
  for (const point of pipeline_points) assert.ok(failpoints.includes(point), point)
})

/** The second one is there for the writes that do not prepare: one point on each side is enough. */
const crashes = pipeline_points.flatMap((point) =>
  Object.entries(acts)
    .filter(
      ([name]) => name === 'create_account' || ['before_commit', 'after_commit'].includes(point),
    )
    .map(([name, makeAct]) => ({ point, name, makeAct })),
)

for (const { point, name, makeAct } of crashes) {
  test(`${name}, killed ${point}: all or nothing, and a retry with the key shows which`, async () => {
    const wasCommitted = COMMITTED.includes(point)
    const act = makeAct()
    const node = await startNode(point)
    await node.arm()
    await assert.rejects(act.send(node.url), TypeError, 'no answer comes')
    await node.died
    assert.equal(await act.effects(), wasCommitted ? 1 : 0)

    const retried = await act.send(healthy.url)
    assert.equal(retried.status, 201, retried.text)
    assert.equal(retried.headers.get('idempotent-replayed'), wasCommitted ? 'true' : null)
    assert.equal(await act.effects(), 1)

    const again = await act.send(healthy.url)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.equal(again.body['id'], retried.body['id'])
    assert.equal(await act.effects(), 1)
  })
}

/** Kills a node at this point while it reveals a card's number. */
async function killDuringReveal(point: Failpoint, card_id: string, key: string): Promise<void> {
  const node = await startNode(point)
  await node.arm()
  const path = `/v1/cards/${card_id}/pan`
  await assert.rejects(send(node.url, 'GET', path, { bearer: key }), TypeError)
  await node.died
}

test('a reveal killed before its commit is not used up, one killed after it is', async () => {
  const { key } = await createKey(healthy.url, ada.bearer)
  const card = await issueCard(healthy.url, key)
  const revealed = async () => {
    const entries = await auditLog(healthy.url, ada.bearer, '&action=card.pan_revealed')
    return entries.filter(({ resource }) => resource?.id === card.id).length
  }
  await killDuringReveal('before_commit', card.id, key)
  assert.equal(await revealed(), 0)
  await killDuringReveal('before_reply', card.id, key)
  assert.equal(await revealed(), 1)
  const again = await send(healthy.url, 'GET', `/v1/cards/${card.id}/pan`, { bearer: key })
  assertRefused(again, 409, 'reveal_already_used')
})

test('after all the kills every audit chain is whole', async () => {
  const report = await verifyAudit(db)
  assert.deepEqual(report.faults, [])
  assert.ok(report.accounts >= 6)
})
