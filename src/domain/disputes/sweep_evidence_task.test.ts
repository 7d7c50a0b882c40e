import assert from 'node:assert/strict'
import { readdir, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { idMaker } from '#kernel/id.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { readSettings } from '#settings/settings.ts'
import { fileDispute, openBuyer } from '#test/support/disputes.ts'
import { send } from '#test/support/http.ts'
import { startTestService } from '#test/support/start.ts'
import { sweepEvidenceTask } from './sweep_evidence_task.ts'

const service = await startTestService()
const { url, data_dir, runtime, tasks } = service
const { blobs, newId, clock } = runtime
const folder = join(data_dir, 'evidence')

async function* bytes() {
  yield Buffer.from('left behind')
}

const stored = async () =>
  (await readdir(folder, { recursive: true })).filter((path) => path.includes('evd_'))

/** Sets the files' modification time to two days ago. */
async function age(paths: readonly string[]): Promise<void> {
  const then = new Date(Date.now() - 2 * 86_400_000)
  for (const path of paths) await utimes(join(folder, path), then, then)
}

test('only old files without a record are removed', async () => {
  const buyer = await openBuyer(service, 10)
  const { id } = await fileDispute(url, buyer)
  const kept = await send(url, 'POST', `/v1/disputes/${id}/evidence?kind=other`, {
    bearer: buyer.key,
    raw: 'a receipt',
    headers: { 'content-type': 'text/plain' },
  })
  assert.equal(kept.status, 200, kept.text)
  await blobs.put(newId('evd', clock.now()), bytes())
  await age(await stored())
  const young = newId('evd', clock.now())
  await blobs.put(young, bytes())
  await tasks.run(['sweep_evidence'])
  const left = (await stored()).map((path) => path.split('/').at(-1)).sort()
  assert.deepEqual(left, [kept.body['evidence'][0].id, young].sort())
})

test('a file whose source fails is not stored, not even in part', async () => {
  const name = newId('evd', clock.now())
  async function* failing() {
    yield Buffer.from('some of it')
    throw new Error('cut off')
  }
  await assert.rejects(blobs.put(name, failing()), /cut off/)
  assert.equal(await blobs.open(name), null)
  assert(!(await stored()).some((path) => path.includes(name)))
  await assert.rejects(blobs.put('../outside', bytes()), /generated name/)
})

test('a cell leaves the files of other cells alone', async () => {
  const of_cell_5 = idMaker(systemRandom.bytes, 5)('evd', clock.now().getTime())
  await blobs.put(of_cell_5, bytes())
  await age((await stored()).filter((path) => path.includes(of_cell_5)))
  const listed = JSON.stringify([{ number: 5, url: 'postgres://other/florin' }])
  const { more_cells } = readSettings({ FLORIN_CELLS: listed })
  const sweepAs = (cell: number) =>
    sweepEvidenceTask({ ...runtime, settings: { cell, more_cells } }).run()
  await sweepAs(0)
  assert.notEqual(await blobs.open(of_cell_5), null)
  await sweepAs(5)
  assert.equal(await blobs.open(of_cell_5), null)
})
