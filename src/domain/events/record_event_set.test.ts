import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeStamp } from '#domain/context/stamp.ts'
import { idTimeMs } from '#kernel/id.ts'
import { ConcurrentUpdate } from '#platform/postgres/concurrent_update.ts'
import { behind } from '#test/support/clock.ts'
import { plainEvent, recordTestEvents } from '#test/support/events.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import type { LastEvent } from './account_sequence_store.ts'
import {
  type AccountSequences,
  eventSetWrites,
  lockSequences,
  sequenceAt,
} from './record_event_set.ts'
import type { EventMetadata } from './record_events.ts'

const { url, runtime, owner_db } = await startTestService()
const { db, clock } = runtime

const metadata: EventMetadata = {
  livemode: false,
  request: null,
  stamp: makeStamp(runtime, 'evt'),
}

async function readHead(account_id: string): Promise<LastEvent> {
  const [row] = await owner_db.rows<LastEvent>(
    'select event_sequence, last_event_id from account_sequences where account_id = $1',
    [account_id],
  )
  assert(row !== undefined)
  return row
}

const readSequence = async (account_id: string) => (await readHead(account_id)).event_sequence

const sequencesOf = async (account_id: string): Promise<bigint[]> => {
  const rows = await owner_db.rows<{ sequence: bigint }>(
    'select sequence from events where account_id = $1 and sequence > 0 order by sequence',
    [account_id],
  )
  return rows.map(({ sequence }) => sequence)
}

const writesFor = (sequences: AccountSequences, account_id: string) =>
  eventSetWrites(sequences, [{ account_id, event: plainEvent('card.loaded') }], metadata)

test('a batch whose sequence changed after it was read writes nothing', async () => {
  const { account_id } = await openAccount(url)
  const head = await readHead(account_id)
  const read = head.event_sequence
  const stale = new Map([[account_id, sequenceAt(head)]])
  // These numbers are free, so only the compare-and-set can refuse the batch.
  await db.transaction(async (tx) => {
    await tx.run('update account_sequences set event_sequence = $2 where account_id = $1', [
      account_id,
      read + 5n,
    ])
  })
  const before = await sequencesOf(account_id)
  const batch = db.transaction((_, commitWith) => commitWith(writesFor(stale, account_id)))
  await assert.rejects(batch, ConcurrentUpdate)
  assert.deepEqual(await sequencesOf(account_id), before)
  assert.equal(await readSequence(account_id), read + 5n)
})

test('a batch whose account got an event without a number writes nothing', async () => {
  const { account_id } = await openAccount(url)
  const stale = new Map([[account_id, sequenceAt(await readHead(account_id))]])
  await recordTestEvents(runtime, account_id, [plainEvent('card.unfrozen')])
  const batch = db.transaction((_, commitWith) => commitWith(writesFor(stale, account_id)))
  await assert.rejects(batch, ConcurrentUpdate)
})

test("a batch's events sort after the account's last one, even if the clock is behind", async () => {
  const { account_id } = await openAccount(url)
  const late = makeStamp({ ...runtime, clock: behind(clock, 20_000) }, 'evt')
  const { last_event_id } = await readHead(account_id)
  await db.transaction(async (tx, commitWith) => {
    const sequences = await lockSequences(tx, [account_id])
    const event = plainEvent('card.loaded')
    const events = [event, plainEvent('card.unfrozen'), event]
    const owned = events.map((each) => ({ account_id, event: each }))
    await commitWith(eventSetWrites(sequences, owned, { ...metadata, stamp: late }))
  })
  const rows = await owner_db.rows<{ id: string; sequence: bigint | null; created_at: Date }>(
    'select id, sequence, created_at from events where account_id = $1 and id > $2 order by id',
    [account_id, last_event_id],
  )
  assert.deepEqual(
    rows.map(({ sequence }) => sequence),
    [2n, null, 3n],
  )
  for (const { id, created_at } of rows) assert.equal(idTimeMs(id), created_at.getTime())
  assert.equal((await readHead(account_id)).last_event_id, rows.at(-1)?.id)
})

test('a batch that locks its sequences keeps other transactions from numbering events', async () => {
  const { account_id } = await openAccount(url)
  const findUnlocked = () =>
    owner_db.rows(
      'select account_id from account_sequences where account_id = $1 for update skip locked',
      [account_id],
    )
  const first = await readSequence(account_id)
  await db.transaction(async (tx, commitWith) => {
    const sequences = await lockSequences(tx, [account_id])
    assert.deepEqual(await findUnlocked(), [])
    await commitWith(writesFor(sequences, account_id))
  })
  assert.equal((await findUnlocked()).length, 1)
  await recordTestEvents(runtime, account_id, [plainEvent('card.frozen')])
  assert.deepEqual((await sequencesOf(account_id)).slice(-2), [first + 1n, first + 2n])
})
