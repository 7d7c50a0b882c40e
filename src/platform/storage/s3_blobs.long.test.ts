import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { S3mini } from 's3mini'
import { idMaker } from '#kernel/id.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import { readSettings } from '#settings/settings.ts'
import { startS3Store } from '#test/support/s3_store.ts'
import { type Blobs, StorageUnavailable } from './blobs.ts'
import { s3Blobs } from './s3_blobs.ts'

const { env, unfinished } = await startS3Store()
const { s3 } = readSettings(env)
assert(s3 !== null)
const blobs = await s3Blobs(s3, systemRandom)
/** The same bucket, looked at past the code under test. */
const bucket = new S3mini({
  endpoint: s3.url,
  region: s3.region,
  accessKeyId: s3.access_key_id,
  secretAccessKey: s3.secret_access_key.open(),
})

const makeId = idMaker(randomBytes)
const newName = () => makeId('evd', Date.now())
const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

async function* inChunks(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(store: Blobs, name: string): Promise<Buffer | null> {
  const file = await store.open(name)
  if (file === null) return null
  const bytes = Buffer.concat(await file.bytes.toArray())
  assert.equal(bytes.length, file.size_bytes)
  return bytes
}

const keys = async () => ((await bucket.listObjects('/', '')) ?? []).map(({ Key }) => Key)
const listedNames = async () => {
  const names: string[] = []
  for await (const { name, stored_at } of blobs.list()) {
    assert(Math.abs(Date.now() - stored_at.getTime()) < 60_000)
    names.push(name)
  }
  return names
}

const PART = 5 * 1_048_576

test('a stored file is returned byte for byte, whatever its size and chunks', async () => {
  const sizes = [1, PART - 1, PART, PART + 1, 2 * PART, 2 * PART + 4_321]
  for (const size of sizes) {
    const [name, bytes] = [newName(), randomBytes(size)]
    await blobs.put(name, inChunks(bytes, 65_537))
    const back = await read(blobs, name)
    assert.deepEqual([back?.length, hashOf(back ?? Buffer.alloc(0))], [size, hashOf(bytes)])
    await blobs.remove(name)
    assert.equal(await blobs.open(name), null)
  }
  assert.deepEqual([await keys(), await unfinished()], [[], []])
})

test('a failed upload leaves nothing, even after complete parts were sent', async () => {
  for (const size of [100, 2 * PART + 100]) {
    const name = newName()
    async function* failing() {
      yield* inChunks(randomBytes(size), 1_048_576)
      throw new Error('cut off')
    }
    await assert.rejects(blobs.put(name, failing()), /cut off/)
    assert.equal(await blobs.open(name), null)
  }
  assert.deepEqual([await keys(), await unfinished()], [[], []])
  await assert.rejects(
    async () => blobs.put('../outside', inChunks(Buffer.from('x'), 1)),
    /generated name/,
  )
})

test('a bucket that cannot be reached is unavailable, not a fault of the caller', async () => {
  const down = await s3Blobs({ ...s3, url: 'http://127.0.0.1:9/florin-evidence' }, systemRandom)
  for (const size of [100, PART + 100]) {
    const upload = down.put(newName(), inChunks(randomBytes(size), 1_048_576))
    await assert.rejects(upload, StorageUnavailable)
  }
})

test('an upload cut off by a crash is listed, and removing it aborts it in the store', async () => {
  const name = newName()
  let isStuck: (value: unknown) => void = () => undefined
  const stuck = new Promise((resolve) => {
    isStuck = resolve
  })
  async function* endless() {
    yield* inChunks(randomBytes(PART + 1), 1_048_576)
    isStuck(null)
    await new Promise(() => undefined)
  }
  void blobs.put(name, endless())
  await stuck
  assert.deepEqual(await listedNames(), [name])
  assert.equal((await unfinished()).length, 1)
  await blobs.remove(name)
  assert.deepEqual([await listedNames(), await unfinished()], [[], []])
})

test('the list contains every file', async () => {
  const names = Array.from({ length: 5 }, newName)
  for (const name of names) await blobs.put(name, inChunks(Buffer.from('some text'), 4))
  assert.deepEqual((await listedNames()).toSorted(), names.toSorted())
  for (const name of names) await blobs.remove(name)
})

test('incomplete settings or a URL without a bucket stop the start with a sentence', () => {
  const { FLORIN_S3_SECRET_ACCESS_KEY: _, ...half } = env
  assert.throws(() => readSettings(half), ConfigError)
  for (const url of ['https://store.example', 'store.example/bucket', 'https://a.example/b/c']) {
    assert.throws(() => readSettings({ ...env, FLORIN_S3_URL: url }), /the address of a bucket/)
  }
  assert.equal(readSettings({}).s3, null)
})
