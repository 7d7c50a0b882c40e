import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { inTemporaryFolder } from '#scripts/test/temporary_folder.ts'
import { florin, startFlorin, stopAllProcesses } from '#test/support/florin_process.ts'

const folder = await mkdtemp(join(tmpdir(), 'florin_leftovers_'))
after(async () => {
  await stopAllProcesses()
  await rm(folder, { recursive: true, force: true })
})

async function ownTemporaryFolder(name: string): Promise<string> {
  const path = join(folder, name)
  await mkdir(path)
  return path
}

test('a sandbox that was stopped leaves nothing in the temporary folder', async () => {
  const TMPDIR = await ownTemporaryFolder('stopped')
  // A path too long for a socket: the signer's then lies in the temporary folder.
  const data_dir = join(folder, 'a_path_that_is_too_long_for_a_socket_'.repeat(3))
  const env = { TMPDIR, FLORIN_DATA_DIR: data_dir }
  const { signal, ended } = await startFlorin(env)
  const during = readdirSync(TMPDIR)
  assert.ok(during.some((name) => name.endsWith('.sock')))
  signal('SIGTERM')
  assert.equal((await ended).code, 0)
  assert.deepEqual(readdirSync(TMPDIR), [])
})

test('commands that open the key file leave nothing in the temporary folder', async () => {
  const TMPDIR = await ownTemporaryFolder('commands')
  const env = { TMPDIR, FLORIN_DATA_DIR: join(folder, 'data') }
  const made = await florin(['operator', 'create', 'ops', '--role', 'viewer'], env)
  assert.equal(made.code, 0, made.stderr)
  const rotated = await florin(['keys', 'rotate'], env)
  assert.equal(rotated.code, 0, rotated.stderr)
  assert.deepEqual(readdirSync(TMPDIR), [])
})

test("files in a test's temporary folder are deleted when the run ends", async () => {
  const script = `const { mkdtempSync, writeFileSync } = require('node:fs')
    const folder = mkdtempSync(require('node:path').join(require('node:os').tmpdir(), 'florin_test_'))
    writeFileSync(folder + '/keys.json', 'secret')
    process.stdout.write(folder)`
  const left = await inTemporaryFolder(async (env) => {
    const { stdout } = spawnSync(process.execPath, ['-e', script], { env, encoding: 'utf8' })
    assert.ok(existsSync(join(stdout, 'keys.json')))
    assert.ok(stdout.startsWith(env['TMPDIR'] ?? 'nowhere'))
    return stdout
  })
  assert.ok(!existsSync(join(left, '..')))
})
