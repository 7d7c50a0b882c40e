import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openDatabase } from '#platform/postgres/db.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { startFlorin, stopAllProcesses, temporaryFolder } from '#test/support/florin_process.ts'
import { holdRows } from '#test/support/held_rows.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'

const clone = await cloneDatabase()
const folder = await temporaryFolder()
const env = {
  FLORIN_DATA_DIR: folder.path,
  FLORIN_DATABASE_URL: clone.url,
  FLORIN_RATE_PROFILE: 'off',
}
const db = openDatabase(clone.url, { pool_size: 2 })
after(async () => {
  await stopAllProcesses()
  await db.close()
  await clone.drop()
  await folder.remove()
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} finishes the request in flight, accepts no new one and exits with 0`, async () => {
    const service = await startFlorin(env)
    const ada = await openAccount(service.url)
    // The request waits for this row, so it is in flight when the signal arrives.
    const held = await holdRows(db, (tx) =>
      tx.rows('select 1 from account_sequences where account_id = $1 for update', [ada.account_id]),
    )
    const inFlight = send(service.url, 'POST', '/v1/api_keys', { bearer: ada.bearer, body: {} })
    await wait(300)
    service.signal(signal)
    await wait(300)
    await assert.rejects(send(service.url, 'GET', '/healthz'), TypeError, 'no new one is taken')
    const released_at = performance.now()
    await held.release()
    const reply = await inFlight
    assert.equal(reply.status, 201, reply.text)
    assert.deepEqual(await service.ended, { code: 0, signal: null })
    const seconds = (performance.now() - released_at) / 1_000
    assert.ok(seconds < 20, `it took ${Math.round(seconds)} s although nothing was left to do`)
    const rows = await db.rows('select 1 from api_keys where id = $1', [reply.body['id']])
    assert.equal(rows.length, 1)
  })
}
