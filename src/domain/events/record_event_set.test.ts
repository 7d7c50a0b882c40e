import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConcurrentUpdate } from '#platform/postgres/concurrent_update.ts'
import { plainEvent, recordTestEvents } from '#test/support/events.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import {
  type AccountSequences,
  eventSetWrites,
  lockSequences,
  sequenceAt,
} from './record_event_set.ts'
import type { EventMetadata } from './record_events.ts'

const { url, runtime, owner_db } = await startTestService()
const { db, clock, newId } = runtime

const metadata: EventMetadata = {
  livemode: false,
  request: null,
  stamp: () => {
    const created_at = clock.now()
    return { id: newId('evt', created_at), created_at }
  },
}

async function readSequence(account_id: string): Promise<bigint> {
  const [row] = await owner_db.rows<{ event_sequence: bigint }>(
    'select event_sequence from account_heads where account_id = $1',
    [account_id],
  )
  return row?.event_sequence ?? 0n
}

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
  const read = await readSequence(account_id)
  const stale = new Map([[account_id, sequenceAt(read)]])
  // These numbers are free, so only the compare-and-set can refuse the batch.
  await db.transaction(async (tx) => {
    await tx.run('update account_heads set event_sequence = $2 where account_id = $1', [
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

test('a batch that locks its sequences keeps other transactions from numbering events', async () => {
  const { account_id } = await openAccount(url)
  const findUnlocked = () =>
    owner_db.rows(
      'select account_id from account_heads where account_id = $1 for update skip locked',
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
