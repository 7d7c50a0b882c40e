import assert from 'node:assert/strict'
import { createHmac, hkdfSync } from 'node:crypto'
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { systemRandom } from '#platform/runtime/random.ts'
import { rotateKeyFile } from './key_file.ts'
import { unsealed } from './key_seal.ts'
import { loadKeys } from './keys.ts'

const folders: string[] = []
after(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

async function keyPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'florin_keys_'))
  folders.push(folder)
  return join(folder, 'deeper', 'keys.json')
}

const load = (path: string) => loadKeys(path, systemRandom)
const storeAt = (path: string) => ({ path, random: systemRandom, seal: unsealed })
const LATER = new Date('2100-01-01')
const PLAIN = 'JBSWY3DPEHPK3PXP — ключ'

test('a sealed value can be opened, also after a restart', async () => {
  const path = await keyPath()
  const sealed = (await load(path)).seal('totp', 'acct_1', PLAIN)
  assert.equal((await load(path)).open('totp', 'acct_1', sealed), PLAIN)
  assert.equal(
    (await load(path)).open('totp', 'acct_1', (await load(path)).seal('totp', 'acct_1', '')),
    '',
  )
})

test('a sealed value reveals nothing and differs each time', async () => {
  const keys = await load(await keyPath())
  const sealed = Array.from({ length: 100 }, () => keys.seal('totp', 'acct_1', PLAIN))
  assert.equal(new Set(sealed).size, 100)
  for (const each of sealed) {
    assert.match(each, /^v1\.k1\.[\w-]+$/)
    assert.ok(!Buffer.from(each.split('.')[2] ?? '', 'base64url').includes('JBSWY'))
  }
})

test('a sealed value opens only for its purpose and its bound ID', async () => {
  const keys = await load(await keyPath())
  const sealed = keys.seal('totp', 'acct_1', PLAIN)
  assert.throws(() => keys.open('totp', 'acct_2', sealed))
  assert.throws(() => keys.open('pan', 'acct_1', sealed))
  assert.throws(() => keys.open('totp|acct_1', '', sealed))
  const stranger = await load(await keyPath())
  assert.throws(() => stranger.open('totp', 'acct_1', sealed))
})

test('a sealed value with one character changed, removed or added does not open', async () => {
  const keys = await load(await keyPath())
  const sealed = keys.seal('totp', 'acct_1', PLAIN)
  const head = 'v1.k1.'.length
  for (let at = head; at < sealed.length - 1; at += 1) {
    const other = sealed[at] === 'A' ? 'B' : 'A'
    const changed = sealed.slice(0, at) + other + sealed.slice(at + 1)
    assert.throws(() => keys.open('totp', 'acct_1', changed), `letter ${at}`)
  }
  for (let end = 0; end < sealed.length - 1; end += 1) {
    assert.throws(() => keys.open('totp', 'acct_1', sealed.slice(0, end)), `cut at ${end}`)
  }
  assert.throws(() => keys.open('totp', 'acct_1', `${sealed}AAAA`))
})

test('a sealed value with a shortened authentication tag is refused', async () => {
  const keys = await load(await keyPath())
  const bytes = Buffer.from(keys.seal('totp', 'acct_1', '').split('.')[2] ?? '', 'base64url')
  for (const length of [4, 8, 12, 13, 14, 15]) {
    const short = bytes.subarray(0, 12 + length).toString('base64url')
    assert.throws(() => keys.open('totp', 'acct_1', `v1.k1.${short}`), `${length} bytes`)
  }
})

test('an unknown version and an unknown key ID are refused with a sentence', async () => {
  const keys = await load(await keyPath())
  const sealed = keys.seal('totp', 'acct_1', PLAIN)
  assert.throws(() => keys.open('totp', 'acct_1', sealed.replace('v1', 'v2')), /names its version/)
  assert.throws(
    () => keys.open('totp', 'acct_1', sealed.replace('k1', 'k9')),
    /contains the key k9/,
  )
  assert.throws(() => keys.open('totp', 'acct_1', sealed.replace('k1', '__proto__')))
  assert.throws(() => keys.open('totp', 'acct_1', sealed.replace('k1', 'constructor')))
})

test('after a rotation old values open, new ones use the new key, and fingerprints stay the same', async () => {
  const path = await keyPath()
  const before = await load(path)
  const sealed = before.seal('totp', 'acct_1', PLAIN)
  const print = before.fingerprint('bearer', 'fls_test_x')
  const { roots: old_roots } = JSON.parse(await readFile(path, 'utf8'))
  assert.equal((await rotateKeyFile(storeAt(path), LATER)).key_id, 'k2')
  const { roots } = JSON.parse(await readFile(path, 'utf8'))
  assert.deepEqual([Object.keys(roots), roots.k1], [['k1', 'k2'], old_roots.k1])
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  const rotated = await load(path)
  assert.equal(rotated.open('totp', 'acct_1', sealed), PLAIN)
  const fresh = rotated.seal('totp', 'acct_1', PLAIN)
  assert.ok(fresh.startsWith('v1.k2.'))
  assert.equal(rotated.open('totp', 'acct_1', fresh), PLAIN)
  assert.equal(before.sealedPrefix(), 'v1.k1.')
  // Loaded keys pick up a new one when they first see it, or on refresh.
  assert.equal(before.open('totp', 'acct_1', fresh), PLAIN)
  await rotateKeyFile(storeAt(path), LATER)
  await before.refresh()
  assert.equal(before.sealedPrefix(), 'v1.k3.')
  assert.equal(before.open('totp', 'acct_1', sealed), PLAIN)
  assert.equal(rotated.fingerprint('bearer', 'fls_test_x'), print)
})

test('fingerprints are the same after a restart and differ by purpose, text and program', async () => {
  const path = await keyPath()
  const keys = await load(path)
  const print = keys.fingerprint('bearer', 'text')
  assert.match(print, /^[\w-]{43}$/)
  assert.equal((await load(path)).fingerprint('bearer', 'text'), print)
  assert.notEqual(keys.fingerprint('guess', 'text'), print)
  assert.notEqual(keys.fingerprint('bearer', 'Text'), print)
  assert.notEqual((await load(await keyPath())).fingerprint('bearer', 'text'), print)
})

test('a fingerprint is an HMAC-SHA-256 under a key derived from the index root', async () => {
  const path = await keyPath()
  const keys = await load(path)
  const { index_root } = JSON.parse(await readFile(path, 'utf8')) as { index_root: string }
  const root = Buffer.from(index_root, 'base64')
  const key = Buffer.from(hkdfSync('sha256', root, '', 'index:bearer', 32))
  for (const text of ['', 'fls_test_x', 'ä€'.repeat(200)]) {
    const mac = createHmac('sha256', key).update(text).digest('base64url')
    assert.equal(keys.fingerprint('bearer', text), mac)
  }
})

test('only its owner can read the key file, and no temporary file is left', async () => {
  const path = await keyPath()
  await load(path)
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  assert.deepEqual(await readdir(join(path, '..')), ['keys.json'])
})

test('nodes that start at the same time in one folder get the same keys', async () => {
  const path = await keyPath()
  const nodes = await Promise.all(Array.from({ length: 8 }, () => load(path)))
  const prints = nodes.map((keys) => keys.fingerprint('bearer', 'text'))
  assert.equal(new Set(prints).size, 1)
  assert.equal((await load(path)).fingerprint('bearer', 'text'), prints[0])
  assert.deepEqual(await readdir(join(path, '..')), ['keys.json'])
})

test('an invalid key file stops the start and is not changed', async () => {
  for (const text of ['{}', '{"current":"k1","roots":{}}', 'null', '[]', '', 'not json']) {
    const path = await keyPath()
    await load(path)
    await writeFile(path, text)
    await assert.rejects(load(path), /is not a key file/, text)
    assert.equal(await readFile(path, 'utf8'), text)
  }
})

test('an unreadable key file is not replaced', async (t) => {
  const path = await keyPath()
  await load(path)
  await chmod(path, 0o000)
  if (process.getuid?.() === 0) {
    // Root reads every file whatever its mode, so it becomes nobody for this test.
    await chmod(join(path, '..'), 0o755)
    process.seteuid?.('nobody')
    t.after(() => process.seteuid?.(0))
  }
  await assert.rejects(load(path), /EACCES/)
})
