import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { S3mini, UploadPart } from 's3mini'
import type { Random } from '#platform/runtime/random.ts'
import { assertBlobName, BLOB_NAME, type Blobs, StorageUnavailable } from './blobs.ts'
import type { S3Settings } from './s3_settings.ts'

/** The protocol's minimum for a part that is not the last. Each upload holds one in memory. */
const PART_BYTES = 5 * 1_048_576
const WRITE_TIMEOUT_MS = 60_000
/** As long as an upload may take: a download may be slow too. */
const READ_TIMEOUT_MS = 30 * 60_000
const LIST_PAGE_SIZE = 1_000

const FINISHED = 'evidence/'
/** Holds a marker with the upload ID per unfinished upload, so a sweep finds it after a crash. */
const UNFINISHED = 'unfinished/'
const keyOf = (name: string) => {
  assertBlobName(name)
  return `${FINISHED}${name}`
}

/** Files in a bucket: for any number of nodes. The client is loaded only if it is used. */
export async function s3Blobs(settings: S3Settings, random: Random): Promise<Blobs> {
  const { S3mini } = await import('s3mini')
  const client = (requestAbortTimeout: number) =>
    new S3mini({
      endpoint: settings.url,
      region: settings.region,
      accessKeyId: settings.access_key_id,
      secretAccessKey: settings.secret_access_key.open(),
      requestAbortTimeout,
    })
  const [bucket, reading] = [client(WRITE_TIMEOUT_MS), client(READ_TIMEOUT_MS)]
  return {
    put: (name, source) => putOrExplain(bucket, { name, source, random }),
    open: async (name) => {
      const response = await reading.getObjectResponse(keyOf(name))
      if (response === null || response.body === null) return null
      const bytes = Readable.fromWeb(response.body as ReadableStream<Uint8Array>)
      return { size_bytes: Number(response.headers.get('content-length')), bytes }
    },
    remove: async (name) => {
      await bucket.deleteObject(keyOf(name))
      for await (const { Key } of listed(bucket, `${UNFINISHED}${name}`)) {
        await abandon(bucket, name, Key)
      }
    },
    list: () => list(bucket),
  }
}

type Upload = { name: string; source: AsyncIterable<Uint8Array>; random: Random }

/** Separates a fault of the bucket from one of the source, which is the caller's own. */
async function putOrExplain(bucket: S3mini, { name, source, random }: Upload): Promise<void> {
  assertBlobName(name)
  let source_fault: unknown
  async function* watched() {
    try {
      yield* source
    } catch (cause) {
      source_fault = cause
      throw cause
    }
  }
  await put(bucket, { name, source: watched(), random }).catch((cause: unknown) => {
    throw cause === source_fault ? cause : new StorageUnavailable('bucket', { cause })
  })
}

/** A file that fits into one part is written as one object, atomically. */
async function put(bucket: S3mini, { name, source, random }: Upload): Promise<void> {
  const key = keyOf(name)
  const parts = partsOf(source)
  const first = await parts.next()
  if (first.done || first.value.length < PART_BYTES) {
    await bucket.putObject(key, first.done ? Buffer.alloc(0) : first.value)
    return
  }
  const upload_id = await bucket.getMultipartUploadId(key)
  const marker = `${UNFINISHED}${name}.${Buffer.from(random.bytes(8)).toString('hex')}`
  await bucket.putObject(marker, upload_id)
  try {
    const sent: UploadPart[] = [await bucket.uploadPart(key, upload_id, first.value, 1)]
    for await (const part of parts) {
      sent.push(await bucket.uploadPart(key, upload_id, part, sent.length + 1))
    }
    await bucket.completeMultipartUpload(key, upload_id, sent)
  } catch (cause) {
    // If this fails too, the sweep finds the marker.
    await abandon(bucket, name, marker).catch(() => undefined)
    throw cause
  }
  await bucket.deleteObject(marker)
}

/** All parts reuse one buffer: each is sent before the next is filled. */
async function* partsOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let part = Buffer.allocUnsafe(0)
  let filled = 0
  for await (const chunk of source) {
    let taken = 0
    while (taken < chunk.length) {
      if (part.length === 0) part = Buffer.allocUnsafe(PART_BYTES)
      const piece = chunk.subarray(taken, taken + PART_BYTES - filled)
      part.set(piece, filled)
      filled += piece.length
      taken += piece.length
      if (filled < PART_BYTES) continue
      yield part
      filled = 0
    }
  }
  if (filled > 0) yield part.subarray(0, filled)
}

async function abandon(bucket: S3mini, name: string, marker: string): Promise<void> {
  const upload_id = await bucket.getObject(marker)
  if (upload_id === null) return
  await bucket.abortMultipartUpload(keyOf(name), upload_id).catch((cause: unknown) => {
    // The upload was completed or aborted before; only its marker is left.
    if ((cause as { status?: number }).status !== 404) throw cause
  })
  await bucket.deleteObject(marker)
}

async function* list(bucket: S3mini): ReturnType<Blobs['list']> {
  for (const prefix of [FINISHED, UNFINISHED]) {
    for await (const { Key, LastModified } of listed(bucket, prefix)) {
      const name = Key.slice(prefix.length).replace(/\.[0-9a-f]{16}$/, '')
      if (BLOB_NAME.test(name)) yield { name, stored_at: new Date(LastModified) }
    }
  }
}

async function* listed(bucket: S3mini, prefix: string) {
  let next: string | undefined
  do {
    const page = await bucket.listObjectsPaged('/', prefix, LIST_PAGE_SIZE, next)
    yield* page?.objects ?? []
    next = page?.nextContinuationToken
  } while (next !== undefined)
}
