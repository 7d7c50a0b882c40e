import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import { assert } from '#kernel/assert.ts'
import type { Random } from '#platform/runtime/random.ts'
import { type CredentialRoot, type KeyStore, makeKeyFile, parseKeyFile } from './key_file.ts'
import { type KeyFileSeal, unsealed } from './key_seal.ts'

/**
 * The program's keys are in one file outside the database, so a database dump alone reveals
 * nothing. Every purpose has its own key, derived from a root by its name. Sealing and credential
 * roots have IDs, so new values use a new root while old ones stay valid. The index root never
 * changes, because rows are looked up by its fingerprints.
 */
export type Keys = {
  seal(purpose: string, bound_to: string, plain: string): string
  open(purpose: string, bound_to: string, sealed: string): string
  /** For looking up rows by card number or request. Never rotated. */
  fingerprint(purpose: string, text: string): string
  /** The stored hash of a new credential. */
  credentialHash(purpose: string, text: string): string
  /** All hashes under which a credential may be stored, the current one first. */
  credentialHashes(purpose: string, text: string): string[]
  /** Raw keys for other algorithms, such as card verification; the current one first. */
  materials(purpose: string, bytes: number): [Buffer, ...Buffer[]]
  /** The prefix of all values sealed under the current key. */
  sealedPrefix(): string
  /** The accepted credential roots, the current one first. */
  credentialRoots(): [CredentialRoot, ...CredentialRoot[]]
  /** Reads the key file again: `florin keys rotate` changes it while the service runs. */
  refresh(): Promise<void>
  refreshSync(): void
}

const IV_BYTES = 12
const TAG_BYTES = 16
/** Explicit, because otherwise a tag of four bytes would be accepted. */
const TAG = { authTagLength: TAG_BYTES }

/** Reads the key file, or creates it at the first start. */
export async function loadKeys(
  path: string,
  random: Random,
  seal: KeyFileSeal = unsealed,
): Promise<Keys> {
  const isThere = await access(path).then(
    () => true,
    (cause: NodeJS.ErrnoException) => cause.code !== 'ENOENT',
  )
  const store = { path, random, seal }
  if (!isThere) await makeKeyFile(store)
  return makeKeys(store, await readFile(path, 'utf8'))
}

type KeyOf = (root: string, purpose: string, bytes?: number) => Buffer

/** Derives keys, each only once. */
function derivation(): KeyOf {
  const derived = new Map<string, Buffer>()
  return (root, purpose, bytes = 32) => {
    const name = `${root}|${purpose}|${bytes}`
    const known = derived.get(name)
    if (known !== undefined) return known
    const key = Buffer.from(hkdfSync('sha256', Buffer.from(root, 'base64'), '', purpose, bytes))
    derived.set(name, key)
    return key
  }
}

/**
 * The current root first. A root whose `from` is in the future is accepted too: a node whose clock
 * is ahead may already use it.
 */
function rootsInOrder(roots: readonly CredentialRoot[]): [CredentialRoot, ...CredentialRoot[]] {
  const current = roots.findLast(({ from }) => Date.parse(from) <= Date.now()) ?? roots[0]
  assert(current !== undefined, 'the key file has a credential root')
  return [current, ...roots.filter((one) => one !== current)]
}

/** Hashes of the first version have no prefix. */
export const credentialPrefix = ({ id }: CredentialRoot) => (id === 'c1' ? '' : `${id}.`)

const macOf = (key: Buffer, text: string) =>
  createHmac('sha256', key).update(text).digest('base64url')

function makeKeys({ path, random, seal }: KeyStore, first_text: string): Keys {
  const first = parseKeyFile(path, seal.open(first_text))
  let file = first
  let last_text = first_text
  const take = (text: string) => {
    // Opening may need the hardware token, so skip it if nothing has changed.
    if (text === last_text) return
    const next = parseKeyFile(path, seal.open(text))
    assert(next.index_root === first.index_root, 'the index root never changes')
    file = next
    last_text = text
  }
  const keyFor = derivation()
  const rootOf = (key_id: string): string => {
    // Another node may have sealed the value with a key that was added since the last read.
    if (!Object.hasOwn(file.roots, key_id)) take(readFileSync(path, 'utf8'))
    const root = Object.hasOwn(file.roots, key_id) ? file.roots[key_id] : undefined
    assert(root !== undefined, `the key file contains the key ${key_id}`)
    return root
  }
  return {
    ...sealingWith({ keyFor, rootOf, currentId: () => file.current }, random),
    ...credentialsWith(keyFor, () => rootsInOrder(file.credential_roots)),
    refresh: async () => take(await readFile(path, 'utf8')),
    refreshSync: () => take(readFileSync(path, 'utf8')),
    fingerprint: (purpose, text) => macOf(keyFor(file.index_root, `index:${purpose}`), text),
  }
}

type Credentials = 'credentialHash' | 'credentialHashes' | 'materials' | 'credentialRoots'

function credentialsWith(
  keyFor: KeyOf,
  roots: () => [CredentialRoot, ...CredentialRoot[]],
): Pick<Keys, Credentials> {
  const hashUnder = (root: CredentialRoot, purpose: string, text: string) =>
    credentialPrefix(root) + macOf(keyFor(root.root, `index:${purpose}`), text)
  return {
    credentialRoots: roots,
    credentialHash: (purpose, text) => hashUnder(roots()[0], purpose, text),
    credentialHashes: (purpose, text) => roots().map((root) => hashUnder(root, purpose, text)),
    materials: (purpose, bytes) => {
      const [current, ...others] = roots()
      const materialOf = ({ root }: CredentialRoot) => keyFor(root, `material:${purpose}`, bytes)
      return [materialOf(current), ...others.map(materialOf)]
    },
  }
}

type SealingKeys = { keyFor: KeyOf; rootOf: (key_id: string) => string; currentId: () => string }

function sealingWith(
  { keyFor, rootOf, currentId }: SealingKeys,
  random: Random,
): Pick<Keys, 'seal' | 'open' | 'sealedPrefix'> {
  return {
    seal: (purpose, bound_to, plain) => {
      const iv = random.bytes(IV_BYTES)
      const key_id = currentId()
      const cipher = createCipheriv('aes-256-gcm', keyFor(rootOf(key_id), purpose), iv, TAG)
      cipher.setAAD(Buffer.from(`${purpose}|${bound_to}`))
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      const sealed = Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')
      return `v1.${key_id}.${sealed}`
    },
    open: (purpose, bound_to, sealed) => {
      const [version, key_id = '', body = ''] = sealed.split('.')
      assert(version === 'v1', 'a sealed value names its version')
      const bytes = Buffer.from(body, 'base64url')
      const iv = bytes.subarray(0, IV_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', keyFor(rootOf(key_id), purpose), iv, TAG)
      decipher.setAAD(Buffer.from(`${purpose}|${bound_to}`))
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
      const plain = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES))
      return Buffer.concat([plain, decipher.final()]).toString('utf8')
    },
    sealedPrefix: () => `v1.${currentId()}.`,
  }
}
