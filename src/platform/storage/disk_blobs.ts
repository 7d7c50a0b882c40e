import { mkdir, open, opendir, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Random } from '#platform/runtime/random.ts'
import { assertBlobName, BLOB_NAME, type Blobs, StorageUnavailable } from './blobs.ts'

const UNFINISHED = /^([a-z]+_[0-9a-z]{26})\.[0-9a-f]{16}\.part$/
const HIGH_WATER_BYTES = 64 * 1024

/** Files on the local disk: for one node, or for several that share a file system. */
export function diskBlobs(folder: string, random: Random): Blobs {
  const pathOf = (name: string) => {
    assertBlobName(name)
    // The last letters are random, so folders fill evenly.
    return join(folder, name.slice(-2), name)
  }
  return {
    put: async (name, source) => {
      const path = pathOf(name)
      const aside = `${path}.${Buffer.from(random.bytes(8)).toString('hex')}.part`
      try {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 })
        await writeDurably(aside, source)
        await rename(aside, path)
      } catch (cause) {
        await rm(aside, { force: true })
        throw isDiskFault(cause) ? new StorageUnavailable('disk', { cause }) : cause
      }
      await syncFolder(dirname(path))
    },
    open: async (name) => {
      const file = await open(pathOf(name), 'r').catch(orMissing)
      if (file === null) return null
      const { size } = await file.stat()
      return {
        size_bytes: size,
        bytes: file.createReadStream({ highWaterMark: HIGH_WATER_BYTES }),
      }
    },
    remove: async (name) => {
      const path = pathOf(name)
      await rm(path, { force: true })
      for (const other of await readdir(dirname(path)).catch(() => [])) {
        if (UNFINISHED.exec(other)?.[1] === name) await rm(join(dirname(path), other))
      }
    },
    list: () => listFolder(folder),
  }
}

const DISK_FAULTS = ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS']

const isDiskFault = (cause: unknown): boolean =>
  cause instanceof Error && DISK_FAULTS.includes((cause as NodeJS.ErrnoException).code ?? '')

/** Writes each chunk before it reads the next: the source waits for the disk. */
async function writeDurably(path: string, source: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of source) await file.writeFile(chunk)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** A rename is durable only after its folder is synced. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

async function* listFolder(folder: string): ReturnType<Blobs['list']> {
  for (const part of await readdir(folder).catch(() => [])) {
    const path = join(folder, part)
    const entries = await opendir(path).catch(() => null)
    if (entries === null) continue
    for await (const { name: entry } of entries) {
      const name = UNFINISHED.exec(entry)?.[1] ?? entry
      if (!BLOB_NAME.test(name)) continue
      const stats = await stat(join(path, entry)).catch(() => null)
      if (stats !== null) yield { name, stored_at: stats.mtime }
    }
  }
}

function orMissing(cause: NodeJS.ErrnoException): null {
  if (cause.code === 'ENOENT') return null
  throw cause
}
