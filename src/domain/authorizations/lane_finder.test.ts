import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Tx } from '#platform/postgres/db.ts'
import { cardRequest, new_card } from '#test/support/card_batch.ts'
import { LaneFinder } from './lane_finder.ts'

/** A database in which card N of `hashN` belongs to `acctN`; it counts its statements. */
function databaseOf(known: readonly string[]) {
  const asked: string[] = []
  const rows = async (sql: string) => {
    asked.push(sql)
    return known.map((at) => ({ pan_hash: `hash${at}`, account_id: `acct${at}` }))
  }
  return { asked, tx: { rows } as unknown as Tx }
}

const request = (at: string) => cardRequest({ ...new_card, pan_hash: `hash${at}` }, 'authorize')
const find = (finder: LaneFinder, at: string) =>
  new Promise<string | null | undefined>((resolve) => finder.find(request(at), resolve))

test('messages that arrive together share one look-up and keep their order', async () => {
  const { asked, tx } = databaseOf(['1', '2'])
  const finder = new LaneFinder(tx)
  const placed: (string | null | undefined)[] = []
  await new Promise<void>((done) => {
    for (const at of ['2', '1', '3', '1']) {
      finder.find(request(at), (account_id) => {
        placed.push(account_id)
        if (placed.length === 4) done()
      })
    }
  })
  assert.deepEqual(placed, ['acct2', 'acct1', null, 'acct1'])
  assert.equal(asked.length, 1)
})

test('a found account is remembered, an unknown card is not', async () => {
  const { tx } = databaseOf(['1'])
  const finder = new LaneFinder(tx)
  await Promise.all([find(finder, '1'), find(finder, '9')])
  assert.deepEqual([finder.known('hash1'), finder.known('hash9')], ['acct1', undefined])
})

test('an unreachable database places messages without an account', async () => {
  const rows = () => Promise.reject(new Error('down'))
  const finder = new LaneFinder({ rows } as unknown as Tx)
  assert.equal(await find(finder, '1'), undefined)
})

test('a message that arrives during a look-up is in the next one', async () => {
  const { asked, tx } = databaseOf(['1', '2'])
  const finder = new LaneFinder(tx)
  const first = find(finder, '1')
  await new Promise((turn) => setImmediate(turn))
  const second = find(finder, '2')
  assert.deepEqual(await Promise.all([first, second]), ['acct1', 'acct2'])
  assert.equal(asked.length, 2)
})
