import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
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
}

type KeyFile = { current: string; roots: Record<string, string>; index_root: string }

const ROOT_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16

/** Reads the key file, or makes one where there is none yet. */
export async function loadKeys(path: string, random: Random): Promise<Keys> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return null
    throw cause
  })
  const file = text === null ? await makeKeyFile(path, random) : parseKeyFile(path, text)
  return keysFrom(file, random)
}

function parseKeyFile(path: string, text: string): KeyFile {
  const file = JSON.parse(text) as Partial<KeyFile>
  const root = file.current === undefined ? undefined : file.roots?.[file.current]
  if (root === undefined || file.index_root === undefined) {
    throw new Error(`${path} is not a key file: it needs current, roots and index_root`)
  }
  return file as KeyFile
}

/** Written aside and renamed: a crash leaves either no key file or a whole one. */
async function makeKeyFile(path: string, random: Random): Promise<KeyFile> {
  const root = () => Buffer.from(random.bytes(ROOT_BYTES)).toString('base64')
  const file: KeyFile = { current: 'k1', roots: { k1: root() }, index_root: root() }
  await mkdir(dirname(path), { recursive: true })
  await writeFile(`${path}.new`, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 })
  await chmod(`${path}.new`, 0o600)
  await rename(`${path}.new`, path)
  return file
}

function keysFrom(file: KeyFile, random: Random): Keys {
  const derived = new Map<string, Buffer>()
  const keyFor = (root: string, purpose: string): Buffer => {
    const name = `${root}|${purpose}`
    const known = derived.get(name)
    if (known !== undefined) return known
    const key = Buffer.from(hkdfSync('sha256', Buffer.from(root, 'base64'), '', purpose, 32))
    derived.set(name, key)
    return key
  }
  const rootOf = (key_id: string): string => {
    const root = file.roots[key_id]
    assert(root !== undefined, `the key file holds the key ${key_id}`)
    return root
  }
  return {
    seal: (purpose, bound_to, plain) => {
      const iv = random.bytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', keyFor(rootOf(file.current), purpose), iv)
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
      const decipher = createDecipheriv('aes-256-gcm', keyFor(rootOf(key_id), purpose), iv)
      decipher.setAAD(Buffer.from(`${purpose}|${bound_to}`))
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
      const plain = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES))
      return Buffer.concat([plain, decipher.final()]).toString('utf8')
    },
    fingerprint: (purpose, text) =>
      createHmac('sha256', keyFor(file.index_root, `index:${purpose}`))
        .update(text)
        .digest('base64url'),
  }
}
