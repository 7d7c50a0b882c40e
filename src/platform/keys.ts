import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { access, chmod, link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { assert } from '#kernel/assert.ts'
import type { Random } from './random.ts'

/**
 * The programme's keys live in one file outside the database: whoever holds only a dump can open
 * nothing and recognise nothing. Every use has a key of its own, derived by its name. Sealing keys
 * carry an id, so that new writes can move to a new root while old ones still open; the index
 * root never changes, because what it fingerprints is looked up by that fingerprint.
 */
export type Keys = {
  seal(purpose: string, bound_to: string, plain: string): string
  open(purpose: string, bound_to: string, sealed: string): string
  fingerprint(purpose: string, text: string): string
  /** Key bytes for an algorithm of its own, such as a card verification key. Never rotated. */
  material(purpose: string, bytes: number): Buffer
  /** How everything begins that is sealed under the current key. */
  sealedPrefix(): string
  /** Reads the key file again: `florin keys rotate` adds to it while the service runs. */
  refresh(): Promise<void>
}

type KeyFile = { current: string; roots: Record<string, string>; index_root: string }

const ROOT_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16
/** Said aloud: otherwise a tag that was cut to four bytes would do. */
const TAG = { authTagLength: TAG_BYTES }

/** Reads the key file, or makes one where there is none yet. */
export async function loadKeys(path: string, random: Random): Promise<Keys> {
  const isThere = await access(path).then(
    () => true,
    (cause: NodeJS.ErrnoException) => cause.code !== 'ENOENT',
  )
  if (!isThere) await makeKeyFile(path, random)
  return keysFrom({ path, first: parseKeyFile(path, await readFile(path, 'utf8')) }, random)
}

/**
 * Adds a root and makes it the one that new writes are sealed under. Old roots stay, so that what
 * they sealed opens; the renaming is atomic, so that a reader sees the old file or the new one.
 */
export async function rotateKeyFile(path: string, random: Random): Promise<string> {
  const file = parseKeyFile(path, await readFile(path, 'utf8'))
  const numbers = Object.keys(file.roots).map((key_id) => Number(key_id.slice(1)))
  const current = `k${Math.max(...numbers) + 1}`
  const roots = { ...file.roots, [current]: newRoot(random) }
  const aside = await writeAside(path, { ...file, current, roots }, random)
  await rename(aside, path)
  return current
}

const newRoot = (random: Random) => Buffer.from(random.bytes(ROOT_BYTES)).toString('base64')

/** Readable by its owner alone, from its first byte on. */
async function writeAside(path: string, file: KeyFile, random: Random): Promise<string> {
  const aside = `${path}.${Buffer.from(random.bytes(8)).toString('hex')}`
  await writeFile(aside, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600, flush: true })
  await chmod(aside, 0o600)
  return aside
}

function parseKeyFile(path: string, text: string): KeyFile {
  const file = jsonIn(text) as Partial<KeyFile> | null
  const root = file?.current === undefined ? undefined : file.roots?.[file.current]
  if (root === undefined || file?.index_root === undefined) {
    throw new Error(`${path} is not a key file: it needs current, roots and index_root`)
  }
  return file as KeyFile
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/**
 * Written aside and linked to its name: a crash leaves either no key file or a whole one, and of
 * several nodes that start at once on one folder the first one's counts.
 */
async function makeKeyFile(path: string, random: Random): Promise<void> {
  const file = { current: 'k1', roots: { k1: newRoot(random) }, index_root: newRoot(random) }
  await mkdir(dirname(path), { recursive: true })
  const aside = await writeAside(path, file, random)
  try {
    await link(aside, path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
  } finally {
    await rm(aside, { force: true })
  }
}

function keysFrom({ path, first }: { path: string; first: KeyFile }, random: Random): Keys {
  let file = first
  const take = (text: string) => {
    const next = parseKeyFile(path, text)
    assert(next.index_root === first.index_root, 'the index root never changes')
    file = next
  }
  const derived = new Map<string, Buffer>()
  const keyFor = (root: string, purpose: string, bytes = 32): Buffer => {
    const name = `${root}|${purpose}|${bytes}`
    const known = derived.get(name)
    if (known !== undefined) return known
    const key = Buffer.from(hkdfSync('sha256', Buffer.from(root, 'base64'), '', purpose, bytes))
    derived.set(name, key)
    return key
  }
  const rootOf = (key_id: string): string => {
    // Another node may have sealed it under a key that was added since this one looked.
    if (!Object.hasOwn(file.roots, key_id)) take(readFileSync(path, 'utf8'))
    const root = Object.hasOwn(file.roots, key_id) ? file.roots[key_id] : undefined
    assert(root !== undefined, `the key file holds the key ${key_id}`)
    return root
  }
  return {
    seal: (purpose, bound_to, plain) => {
      const iv = random.bytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', keyFor(rootOf(file.current), purpose), iv, TAG)
      cipher.setAAD(Buffer.from(`${purpose}|${bound_to}`))
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      const sealed = Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')
      return `v1.${file.current}.${sealed}`
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
    sealedPrefix: () => `v1.${file.current}.`,
    refresh: async () => take(await readFile(path, 'utf8')),
    material: (purpose, bytes) => keyFor(file.index_root, `material:${purpose}`, bytes),
    fingerprint: (purpose, text) =>
      createHmac('sha256', keyFor(file.index_root, `index:${purpose}`))
        .update(text)
        .digest('base64url'),
  }
}
