import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parseKeyFile } from '#platform/storage/key_file.ts'
import { florin, startFlorin, temporaryFolder } from '#test/support/florin_process.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'
import { startSoftHsm } from '#test/support/soft_hsm.ts'

test('with a PKCS#11 token no key is on disk in the clear, and a rotation moves to another key of it', async (t) => {
  const folder = await temporaryFolder()
  after(folder.remove)
  const hsm = startSoftHsm(folder.path, t)
  if (hsm === undefined) return
  const key_file = join(folder.path, 'keys.json')
  const base = { FLORIN_DATA_DIR: folder.path, FLORIN_RATE_PROFILE: 'off' }
  const env = { ...base, ...hsm.envFor('01') }
  hsm.makeKey('01')

  // An installation that began with a plain key file.
  const plain = await startFlorin(base)
  const { bearer } = await openAccount(plain.url)
  plain.signal('SIGTERM')
  await plain.ended
  const { index_root, roots } = parseKeyFile(key_file, await readFile(key_file, 'utf8'))

  const rotated = await florin(['keys', 'rotate', '--activate-after', '0'], env)
  assert.equal(rotated.code, 0, rotated.output)
  const sealed = await readFile(key_file, 'utf8')
  assert.equal(JSON.parse(sealed).sealed_by, 'pkcs11')
  for (const secret of [index_root, ...Object.values(roots)]) assert(!sealed.includes(secret))

  const served = await startFlorin(env)
  const read = () => send(served.url, 'GET', '/v1/accounts/me', { bearer })
  assert.equal((await read()).status, 200, 'a session of before')

  hsm.makeKey('02')
  const moved = await florin(['keys', 'rotate'], { ...base, ...hsm.envFor('02') })
  assert.equal(moved.code, 0, moved.output)
  assert.equal(JSON.parse(await readFile(key_file, 'utf8')).key_id, '02')
  assert.equal((await read()).status, 200)
  served.signal('SIGTERM')
  await served.ended

  const without = await florin(['keys', 'rotate'], base)
  assert.notEqual(without.code, 0)
  assert.match(without.output, /is sealed by a hardware token/)
  const no_key = await florin(['keys', 'rotate'], { ...base, ...hsm.envFor('03') })
  assert.notEqual(no_key.code, 0)
  assert.match(no_key.output, /could not encrypt with the key 03/)
  await writeFile(hsm.pin_file, '0000\n')
  const wrong_pin = await florin(['keys', 'rotate'], { ...base, ...hsm.envFor('02') })
  assert.match(wrong_pin.output, /CKR_PIN_INCORRECT/)
  assert.doesNotMatch(wrong_pin.output, /0000/)
})

test('a sealed key file that was tampered with does not open', async (t) => {
  const folder = await temporaryFolder()
  after(folder.remove)
  const hsm = startSoftHsm(folder.path, t)
  if (hsm === undefined) return
  hsm.makeKey('01')
  const env = { FLORIN_DATA_DIR: folder.path, FLORIN_RATE_PROFILE: 'off', ...hsm.envFor('01') }
  const first = await startFlorin(env)
  first.signal('SIGTERM')
  await first.ended
  const key_file = join(folder.path, 'keys.json')
  const file = JSON.parse(await readFile(key_file, 'utf8')) as Record<string, string>
  for (const part of ['body', 'file_key', 'iv'] as const) {
    const old = file[part] ?? ''
    const changed = (old.startsWith('a') ? 'b' : 'a') + old.slice(1)
    await writeFile(key_file, JSON.stringify({ ...file, [part]: changed }))
    assert.notEqual((await florin(['keys', 'rotate'], env)).code, 0, part)
  }
})
