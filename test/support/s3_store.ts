import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { S3rver } from '#test/packages/s3rver.ts'

const BUCKET = 'florin-evidence'
/** s3rver's only account. */
const KEYS = { FLORIN_S3_ACCESS_KEY_ID: 'S3RVER', FLORIN_S3_SECRET_ACCESS_KEY: 'S3RVER' }

type S3Store = {
  /** The service's settings for this store. */
  env: Record<string, string>
  /** Uploads that were neither completed nor aborted. */
  unfinished(): Promise<string[]>
}

/** s3rver, an independent implementation of the S3 protocol. */
export async function startS3Store(): Promise<S3Store> {
  const directory = await mkdtemp(join(tmpdir(), 'florin_s3_'))
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: BUCKET }],
  })
  const uploads = server.store.getResourcePath(BUCKET, undefined, 'uploads')
  addAbortUpload(server, uploads)
  const { port } = await server.run()
  after(async () => {
    await server.close()
    await rm(directory, { recursive: true, force: true })
  })
  const env = {
    ...KEYS,
    FLORIN_S3_URL: `http://127.0.0.1:${port}/${BUCKET}`,
    FLORIN_S3_REGION: 'us-east-1',
  }
  return { env, unfinished: () => readdir(uploads).catch(() => []) }
}

/** s3rver lacks AbortMultipartUpload. */
function addAbortUpload(server: S3rver, uploads: string): void {
  server.middleware.unshift(async (context, next) => {
    const id = context.query['uploadId']
    if (context.method !== 'DELETE' || id === undefined) return next()
    const begun: string[] = await readdir(uploads).catch(() => [])
    await rm(join(uploads, id), { recursive: true, force: true })
    context.status = begun.includes(id) ? 204 : 404
  })
}
