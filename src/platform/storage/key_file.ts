import {
  access,
  chmod,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { takeProcessLock } from '#platform/embedded_postgres/process_lock.ts'
import type { Random } from '#platform/runtime/random.ts'
import type { KeyFileSeal } from './key_seal.ts'

/**
 * The root key of credential hashes, card security codes and approvals. New ones use the newest
 * root whose `from` has passed; the previous root is accepted until it is retired.
 */
export type CredentialRoot = { id: string; root: string; from: string }

export type KeyFile = {
  /** The ID of the root that seals new values. */
  current: string
  roots: Record<string, string>
  /** For fingerprints of card numbers and requests; it never changes. */
  index_root: string
  /** Oldest first. */
  credential_roots: CredentialRoot[]
}

export type KeyStore = { path: string; random: Random; seal: KeyFileSeal }

export const readKeyFile = async ({ path, seal }: KeyStore): Promise<KeyFile> =>
  parseKeyFile(path, seal.open(await readFile(path, 'utf8')))

const ROOT_BYTES = 32
const FIRST_CREDENTIAL_ID = 'c1'

export function parseKeyFile(path: string, text: string): KeyFile {
  const file = jsonIn(text) as (Partial<KeyFile> & { sealed_by?: string }) | null
  if (file?.sealed_by !== undefined) {
    throw new Error(`${path} is sealed by a hardware token: set FLORIN_PKCS11_MODULE and the rest`)
  }
  const root = file?.current === undefined ? undefined : file.roots?.[file.current]
  if (root === undefined || file?.index_root === undefined) {
    throw new Error(`${path} is not a key file: it needs current, roots and index_root`)
  }
  // Key files of the first version use the index root for credentials too.
  const first = { id: FIRST_CREDENTIAL_ID, root: file.index_root, from: new Date(0).toISOString() }
  return { credential_roots: [first], ...file } as KeyFile
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/**
 * Writes a temporary file and links it to its name: a crash leaves no key file or a complete one,
 * and if several nodes start in one folder, the first one's file is used.
 */
export async function makeKeyFile(store: KeyStore): Promise<void> {
  const { path, random } = store
  const file = { current: 'k1', roots: { k1: newRoot(random) }, index_root: newRoot(random) }
  await mkdir(dirname(path), { recursive: true })
  const aside = await writeAside(store, file)
  try {
    await link(aside, path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
  } finally {
    await rm(aside, { force: true })
  }
}

export type Rotation = {
  key_id: string
  /** Null if the overlap of the last rotation has not ended: then only the sealing key is new. */
  credential_root: CredentialRoot | null
}

/**
 * Adds a sealing root, which is used immediately, and a credential root, which is used from `from`
 * on. Old roots stay, so existing values can be opened and existing hashes recognized.
 */
export function rotateKeyFile(store: KeyStore, from: Date): Promise<Rotation> {
  const { random } = store
  return changeKeyFile(store, (file) => {
    const key_id = nextId('k', Object.keys(file.roots))
    const roots = { ...file.roots, [key_id]: newRoot(random) }
    const known = file.credential_roots
    const is_overlapping = known.length > 1
    const ids = known.map(({ id }) => id)
    const next = { id: nextId('c', ids), root: newRoot(random), from: from.toISOString() }
    const credential_roots = is_overlapping ? known : [...known, next]
    return {
      file: { ...file, current: key_id, roots, credential_roots },
      result: { key_id, credential_root: is_overlapping ? null : next },
    }
  })
}

/** Ends the overlap: only the newest credential root stays. */
export function retireCredentialRoots(store: KeyStore): Promise<void> {
  return changeKeyFile(store, (file) => ({
    file: { ...file, credential_roots: file.credential_roots.slice(-1) },
    result: undefined,
  }))
}

const nextId = (letter: string, ids: readonly string[]) =>
  `${letter}${Math.max(...ids.map((id) => Number(id.slice(1)))) + 1}`

type Change<Result> = { file: KeyFile; result: Result }

/**
 * One change at a time: of two concurrent ones the second would drop the first one's root. The
 * rename is atomic, so a reader or a crash sees the old file or the new one. The folder is synced,
 * because after a power cut the old file could come back while the new root is in use.
 */
async function changeKeyFile<Result>(
  store: KeyStore,
  change: (file: KeyFile) => Change<Result>,
): Promise<Result> {
  const { path } = store
  await access(path)
  const release = await takeProcessLock(`${path}.lock`, 'the key file')
  try {
    await removeLeftovers(path)
    const { file, result } = change(await readKeyFile(store))
    await rename(await writeAside(store, file), path)
    const folder = await open(dirname(path))
    await folder.sync().finally(() => folder.close())
    return result
  } finally {
    await release()
  }
}

/** A killed rotation may leave its copy of the keys behind. */
async function removeLeftovers(path: string): Promise<void> {
  const prefix = `${basename(path)}.`
  for (const name of await readdir(dirname(path))) {
    const is_leftover = name.startsWith(prefix) && /^[0-9a-f]{16}$/.test(name.slice(prefix.length))
    if (is_leftover) await rm(join(dirname(path), name), { force: true })
  }
}

const newRoot = (random: Random) => Buffer.from(random.bytes(ROOT_BYTES)).toString('base64')

/** Writes a temporary file that only its owner can read. */
async function writeAside({ path, random, seal }: KeyStore, file: object): Promise<string> {
  const text = seal.seal(`${JSON.stringify(file, null, 2)}\n`)
  const aside = `${path}.${Buffer.from(random.bytes(8)).toString('hex')}`
  await writeFile(aside, text, { mode: 0o600, flush: true })
  await chmod(aside, 0o600)
  return aside
}
