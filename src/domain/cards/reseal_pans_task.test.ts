import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemRandom } from '#platform/runtime/random.ts'
import { rotateKeyFile } from '#platform/storage/key_file.ts'
import { unsealed } from '#platform/storage/key_seal.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'
import { send } from '#test/support/http.ts'
import { startTestService } from '#test/support/start.ts'
import { resealPansTask } from './reseal_pans_task.ts'

const service = await startTestService()
const { url, runtime, tasks, data_dir, database_url } = service
/** A second node on the same database and key file, whose tasks this test never runs. */
const other = await startTestService({ data_dir, database_url })
const key_file = join(data_dir, 'keys.json')
const store = { path: key_file, random: systemRandom, seal: unsealed }
/** The new credential root becomes active after these tests. */
const LATER = new Date('2100-01-01')

const keyIds = async (): Promise<string[]> => {
  const rows = await runtime.db.rows<{ key_id: string }>(
    `select distinct split_part(pan_sealed, '.', 2) as key_id from cards order by 1`,
  )
  return rows.map(({ key_id }) => key_id)
}

test('a key rotation reseals every number, and every node can still reveal them', async () => {
  const { key } = await openHolder(service)
  const cards = [await issueCard(url, key), await issueCard(url, key), await issueCard(url, key)]
  const show = async (node: string, id: string): Promise<string> => {
    const headers = { 'Reveal-Nonce': randomUUID() }
    const reply = await send(node, 'GET', `/v1/cards/${id}/pan`, { bearer: key, headers })
    assert.equal(reply.status, 200, reply.text)
    return `${reply.body.pan} ${reply.body.cvv}`
  }
  const shown = await Promise.all(cards.map(({ id }) => show(url, id)))
  assert.deepEqual(await keyIds(), ['k1'])

  assert.equal((await rotateKeyFile(store, LATER)).key_id, 'k2')
  assert.equal((await stat(key_file)).mode & 0o777, 0o600)
  assert.deepEqual(await Promise.all(cards.map(({ id }) => show(url, id))), shown)

  await tasks.run(['reseal_pans'])
  assert.deepEqual(await keyIds(), ['k2'])
  assert.deepEqual(await Promise.all(cards.map(({ id }) => show(url, id))), shown)
  // The other node has not read the key file since its start, so it loads the new key now.
  assert.deepEqual(await Promise.all(cards.map(({ id }) => show(other.url, id))), shown)

  const [version] = await runtime.db.rows<{ max: bigint }>('select max(version) from cards')
  assert.equal(version?.max, 1n)
  assert.equal((await issueCard(url, key)).status, 'active')
  assert.deepEqual(await keyIds(), ['k2'])
})

test('a card sealed under an old key after a run is resealed by the next run', async () => {
  const { key } = await openHolder(service)
  const { id } = await issueCard(url, key)
  const [before] = await runtime.db.rows<{ pan_sealed: string }>(
    'select pan_sealed from cards where id = $1',
    [id],
  )
  const task = resealPansTask(runtime)
  await rotateKeyFile(store, LATER)
  await task.run()
  assert.deepEqual(await keyIds(), ['k3'])
  await runtime.db.run('update cards set pan_sealed = $2 where id = $1', [id, before?.pan_sealed])
  await task.run()
  assert.deepEqual(await keyIds(), ['k3'])
  const { roots } = JSON.parse(await readFile(key_file, 'utf8'))
  assert.deepEqual(Object.keys(roots), ['k1', 'k2', 'k3'])
})
