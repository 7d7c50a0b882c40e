import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { access, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import { ARCHIVED_TABLES, type ArchivedTable } from '#domain/archive/leaving_store.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import type { Keys } from '#platform/storage/keys.ts'
import { LineCounter } from './line_counter.ts'
import {
  type ArchiveFile,
  MANIFEST,
  type Manifest,
  type ReadManifest,
  readManifest,
} from './manifest.ts'

/** Proves that an archive is complete and unchanged, by reading all of it. */
export async function verifyArchive(folder: string, keys: Keys): Promise<ReadManifest> {
  const read = await readManifest(folder, keys)
  for (const file of read.manifest.files) await verifyFile(folder, file, read.manifest)
  return read
}

async function verifyFile(folder: string, file: ArchiveFile, manifest: Manifest): Promise<void> {
  const path = join(folder, file.file)
  const sha256 = await sha256OfFile(path).catch(() => {
    throw new ConfigError(`${path} can't be read.`)
  })
  if (sha256 !== file.sha256) {
    throw new ConfigError(`${path} was changed: its SHA-256 is ${sha256}, not ${file.sha256}.`)
  }
  const counter = new LineCounter()
  for await (const line of linesOf(path)) counter.add(line)
  const { rows, amount_micros, first_id, last_id } = counter.totals()
  const isEqual =
    rows === file.rows && amount_micros === file.amount_micros && isWithin(manifest, file)
  if (isEqual && first_id === file.first_id && last_id === file.last_id) return
  throw new ConfigError(`${path} doesn't have the rows that the manifest lists.`)
}

/** Rows of other months belong to another archive. */
function isWithin({ from, floor }: Manifest, { table, first_id, last_id }: ArchiveFile): boolean {
  if (first_id === null || last_id === null) return true
  const prefix = ARCHIVED_TABLES[table as ArchivedTable]
  return first_id >= `${prefix}_${from}` && last_id < `${prefix}_${floor}`
}

async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

/** The rows of a file, as they were written. */
export function linesOf(path: string): AsyncIterable<string> {
  const input = createReadStream(path).pipe(createGunzip())
  return createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
}

/** One archive, or all archives in a folder: each must follow the one before it. */
export async function verifyFolder(folder: string, keys: Keys): Promise<ReadManifest[]> {
  if (await isThere(join(folder, MANIFEST))) return [await verifyArchive(folder, keys)]
  const names = await readdir(folder).catch(() => {
    throw new ConfigError(`The folder ${folder} can't be read.`)
  })
  const archives: ReadManifest[] = []
  for (const name of names.sort()) {
    if (await isThere(join(folder, name, MANIFEST))) {
      archives.push(await verifyArchive(join(folder, name), keys))
    }
  }
  if (archives.length === 0) throw new ConfigError(`There is no archive in ${folder}.`)
  requireChain(archives)
  return archives
}

function requireChain(archives: readonly ReadManifest[]): void {
  const known = new Set(archives.map(({ sha256 }) => sha256))
  for (const { manifest } of archives) {
    const { cell, from, until, previous_sha256 } = manifest
    if (previous_sha256 !== null && !known.has(previous_sha256)) {
      throw new ConfigError(
        `The archive before the one of cell ${cell} until ${until} (from ${from}) is missing.`,
      )
    }
  }
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
