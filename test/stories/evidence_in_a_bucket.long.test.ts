import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { systemClock } from '#platform/runtime/clock.ts'
import { fileDispute, getDispute, openBuyer } from '#test/support/disputes.ts'
import { send } from '#test/support/http.ts'
import { OPERATOR_TOKEN } from '#test/support/operator.ts'
import { startS3Store } from '#test/support/s3_store.ts'
import { startTestService } from '#test/support/start.ts'

const { env } = await startS3Store()
const clock = systemClock()
const { wall } = clock
let later_ms = 0
const service = await startTestService({
  env,
  dependencies: { clock: { ...clock, wall: () => new Date(wall().getTime() + later_ms) } },
})
const { url, runtime, tasks } = service
const { blobs, newId } = runtime

const PDF = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(12 * 1_048_576)])
const sha256 = createHash('sha256').update(PDF).digest('hex')

async function* orphanContent() {
  yield Buffer.from('left behind')
}

async function download(path: string, bearer: string): Promise<Buffer> {
  const reply = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${bearer}` } })
  assert.equal(reply.status, 200)
  assert.match(reply.headers.get('content-disposition') ?? '', /^attachment/)
  return Buffer.from(await reply.arrayBuffer())
}

test('evidence is stored in the bucket, readable by owner and operator, and orphans are deleted', async () => {
  const buyer = await openBuyer(service, 10)
  const { id } = await fileDispute(url, buyer)
  const add = (raw: Buffer) =>
    send(url, 'POST', `/v1/disputes/${id}/evidence?kind=other`, {
      bearer: buyer.key,
      raw,
      headers: { 'content-type': 'application/pdf' },
    })
  const added = await add(PDF)
  assert.equal(added.status, 200, added.text)
  const [piece] = (await getDispute(url, buyer.key, id)).evidence
  assert.deepEqual([piece?.sha256, piece?.size_bytes], [sha256, PDF.length])
  const place = `disputes/${id}/evidence/${piece?.id}`
  assert(PDF.equals(await download(`/files/${place}`, buyer.key)))
  assert(PDF.equals(await download(`/operator/v1/${place}`, OPERATOR_TOKEN)))

  const refused = await add(PDF.subarray(10))
  assert.equal(refused.status, 415, refused.text)
  const orphan = newId('evd', clock.now())
  await blobs.put(orphan, orphanContent())
  await tasks.run(['sweep_evidence'])
  assert.notEqual(await blobs.open(orphan), null, 'its record may still be written')
  later_ms = 25 * 3_600_000
  await tasks.run(['sweep_evidence'])
  const names: string[] = []
  for await (const { name } of blobs.list()) names.push(name)
  assert.deepEqual(names, [piece?.id])
})
