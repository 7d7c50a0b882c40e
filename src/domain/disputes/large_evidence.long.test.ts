import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileDispute, getDispute, openBuyer } from '#test/support/disputes.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService()
const { url, data_dir } = service

/** Every file in the blob store, complete or not. */
const storedFiles = async () =>
  (await readdir(join(data_dir, 'evidence'), { recursive: true }).catch(() => [])).filter((path) =>
    path.includes('evd_'),
  )

test('a stream of 100 MB is accepted; one byte more is refused and not stored', async () => {
  const buyer = await openBuyer(service, 10)
  const { key } = buyer
  const dispute = await fileDispute(url, buyer)
  const before = await storedFiles()
  const stream = (bytes: number) =>
    new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Buffer.from('%PDF-1.7 with a long body\n')),
      pull: (controller) => {
        const left = bytes - sent
        const chunk = Buffer.alloc(Math.min(left, 1_048_576), 65)
        sent += chunk.length
        if (chunk.length > 0) controller.enqueue(chunk)
        else controller.close()
      },
    })
  let sent = 26
  const post = async (bytes: number) => {
    sent = 26
    const response = await fetch(`${url}/v1/disputes/${dispute.id}/evidence?kind=other`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/pdf' },
      body: stream(bytes),
      duplex: 'half',
    } as RequestInit)
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const whole = await post(104_857_600)
  assert.equal(whole.status, 200, JSON.stringify(whole.body))
  const over = await post(104_857_601)
  assert.deepEqual([over.status, over.body['error']], [413, 'evidence_too_large'])
  const { evidence } = await getDispute(url, key, dispute.id)
  assert.deepEqual(
    evidence.map(({ size_bytes }) => size_bytes),
    [104_857_600],
  )
  assert.equal((await storedFiles()).length, before.length + 1)
})
