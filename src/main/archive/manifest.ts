import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { canonicalJson } from '#kernel/canonical.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import type { Keys } from '#platform/storage/keys.ts'

export const MANIFEST = 'manifest.json'
const FORMAT = 'florin archive 1'

/** Of the rows as PostgreSQL has them: their number, and the sum of a hash of each. */
export type RowSum = { rows: number; row_hash: string }

export type ArchiveFile = RowSum & {
  table: string
  file: string
  /** Names and types, for a restore into a database without Florin's tables. */
  columns: { name: string; type: string }[]
  amount_micros: string
  first_id: string | null
  last_id: string | null
  bytes: number
  sha256: string
}

export type Manifest = {
  format: string
  cell: number
  /** IDs without prefix: all rows from `from`, and before `floor`. */
  from: string
  floor: string
  until: string
  made_at: string
  /** The manifest of the archive before it. */
  previous_sha256: string | null
  files: ArchiveFile[]
}

type SignedManifest = Manifest & { mac: string }

const macOf = (keys: Keys, manifest: Manifest): string =>
  keys.fingerprint('archive manifest', canonicalJson(manifest))

export function signManifest(keys: Keys, manifest: Omit<Manifest, 'format'>): string {
  const made: Manifest = { format: FORMAT, ...manifest }
  return `${JSON.stringify({ ...made, mac: macOf(keys, made) }, null, 2)}\n`
}

export const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex')

export type ReadManifest = { manifest: Manifest; sha256: string }

/** Reads a manifest. Its key shows that nobody else changed it or its files. */
export async function readManifest(folder: string, keys: Keys): Promise<ReadManifest> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch(() => {
    throw new ConfigError(`${folder} has no ${MANIFEST}: it is not an archive, or not complete.`)
  })
  const { mac, ...manifest } = parse(folder, text)
  if (manifest.format !== FORMAT) {
    throw new ConfigError(`${folder}: this version of Florin can't read "${manifest.format}".`)
  }
  if (mac !== macOf(keys, manifest)) {
    throw new ConfigError(
      `${folder}: the manifest was changed, or made with another key file than this one.`,
    )
  }
  return { manifest, sha256: sha256Of(text) }
}

function parse(folder: string, text: string): SignedManifest {
  try {
    return JSON.parse(text) as SignedManifest
  } catch (cause) {
    throw new ConfigError(`${folder}: ${MANIFEST} is not valid JSON.`, { cause })
  }
}
