import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openDatabase } from '#platform/postgres/db.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { fileDispute, getDispute, openBuyer } from '#test/support/disputes.ts'
import { startFlorin } from '#test/support/florin_process.ts'
import type { TestService } from '#test/support/start.ts'

/** All that a dispute takes. */
const UPLOADS = 20
const FILE_BYTES = 104_857_600
const CHUNK = Buffer.alloc(262_144, 65)
const GROWTH_BYTES_MAX = 50 * 1_048_576

const database = await cloneDatabase()
const db = openDatabase(database.url, { pool_size: 2 })
const florin = await startFlorin({
  FLORIN_DATABASE_URL: database.url,
  FLORIN_RATE_PROFILE: 'off',
})
after(async () => {
  florin.signal('SIGTERM')
  await florin.ended
  await db.close()
  await database.drop()
})

/** The resident memory of the service's process. */
async function residentBytes(): Promise<number> {
  const status = await readFile(`/proc/${florin.pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1_024
}

function upload(path: string, key: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/pdf' }
    const posting = request(florin.url + path, { method: 'POST', headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
    posting.on('error', reject)
    posting.write('%PDF-1.7 and then much more\n')
    let left = FILE_BYTES - 28
    const more = (): void => {
      while (left > 0) {
        const chunk = CHUNK.subarray(0, Math.min(left, CHUNK.length))
        left -= chunk.length
        if (!posting.write(chunk)) return void posting.once('drain', more)
      }
      posting.end()
    }
    more()
  })
}

test('twenty concurrent uploads of 100 MB grow the service by less than 50 MB', async () => {
  const service = { url: florin.url, runtime: { db, cells: null } } as unknown as TestService
  const openDispute = async () => {
    const buyer = await openBuyer(service, 10)
    const { id } = await fileDispute(florin.url, buyer)
    return { id, key: buyer.key, path: `/v1/disputes/${id}/evidence?kind=other` }
  }
  // A first upload warms up code and connections, whose memory is not measured.
  const first = await openDispute()
  assert.equal(await upload(first.path, first.key), 200)
  const { id, key, path } = await openDispute()
  const before = await residentBytes()
  let highest = before
  let isDone = false
  const watching = (async () => {
    while (!isDone) {
      highest = Math.max(highest, await residentBytes())
      await wait(20)
    }
  })()
  const statuses = await Promise.all(Array.from({ length: UPLOADS }, () => upload(path, key)))
  isDone = true
  await watching
  assert.deepEqual(new Set(statuses), new Set([200]))
  assert.equal((await getDispute(florin.url, key, id)).evidence.length, UPLOADS)
  const growth = highest - before
  console.log(`grew by ${Math.round(growth / 1_048_576)} MB from ${Math.round(before / 1_048_576)}`)
  assert(growth < GROWTH_BYTES_MAX, `grew by ${Math.round(growth / 1_048_576)} MB`)
})
