import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openDatabase } from '#platform/postgres/db.ts'
import { SERVICE_ROLE } from '#platform/postgres/roles.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { deleteMessagesBefore, sweepUndatedMessages } from './message_retention.ts'

const clone = await cloneDatabase()
const db = openDatabase(clone.url, { role: { name: SERVICE_ROLE, can_copy: true } })
after(async () => {
  await db.close()
  await clone.drop()
})

const BEFORE = new Date('2026-06-01T00:00:00Z')

const insert = (identity: string, received_at: string) =>
  db.run(
    `insert into network_messages (identity, link, fingerprint, mti, raw, response_mti,
       response_code, answer, received_at)
     values ($1, '', '', '0100', '', '0110', '00', '', $2)`,
    [identity, received_at],
  )

const identities = async (): Promise<string[]> =>
  (
    await db.rows<{ identity: string }>('select identity from network_messages order by identity')
  ).map(({ identity }) => identity)

test('old messages of networks and processors are deleted, the others stay', async () => {
  await insert('20260531235959|net', '2026-05-31')
  await insert('20260601000000|net', '2026-06-01')
  await insert('processor|a|1', '2026-05-31')
  await insert('processor|a|2', '2026-06-02')
  await deleteMessagesBefore(db, BEFORE)
  assert.equal(await sweepUndatedMessages(db, { before: BEFORE, after: '' }), '')
  assert.deepEqual(await identities(), ['20260601000000|net', 'processor|a|2'])
})

test('thousands of messages are deleted in steps, and a sweep continues where it stopped', async () => {
  await db.run('delete from network_messages')
  for (const start of ['2026050100000', 'processor|a|']) {
    await db.run(
      `insert into network_messages (identity, link, fingerprint, mti, raw, response_mti,
         response_code, answer, received_at)
       select $1 || lpad(n::text, 5, '0'), '', '', '0100', '', '0110', '00', '', '2026-05-01'
         from generate_series(1, 4500) n`,
      [start],
    )
  }
  await deleteMessagesBefore(db, BEFORE)
  assert((await identities()).every((identity) => identity.startsWith('processor')))
  let position = ''
  for (const left of [2_500, 500, 0]) {
    position = await sweepUndatedMessages(db, { before: BEFORE, after: position })
    assert.equal((await identities()).length, left)
  }
  assert.equal(position, '')
})
