import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { systemRandom } from '#platform/runtime/random.ts'
import { makeKeyFile } from '#platform/storage/key_file.ts'
import { sealFor } from '#platform/storage/key_seal.ts'
import { readSettings } from '#settings/settings.ts'
import { type Finding, runCheck } from './check.ts'
import { machineChecks } from './machine_checks.ts'

const folder = await mkdtemp(join(tmpdir(), 'florin_doctor_'))
after(() => rm(folder, { recursive: true, force: true }))

async function find(name: string, data_dir = folder): Promise<Finding> {
  const checks = machineChecks(readSettings({ FLORIN_DATA_DIR: data_dir }))
  const check = checks.find((each) => each.name === name)
  assert(check !== undefined)
  return runCheck(check)
}

test('a folder or file that the first start creates is a note before it, not a fault', async () => {
  const absent = join(folder, 'absent')
  for (const name of ['data folder', 'key file']) {
    const { state, found } = await find(name, absent)
    assert.equal(state, 'note')
    assert.match(found, /absent\S* is created at the first start/)
  }
  assert.match((await find('disk', absent)).found, /^\d+\.\d GiB free$/)
})

test('a key file is named by its current key; one that others can read is a fault', async () => {
  const path = join(folder, 'keys.json')
  const { key_token } = readSettings({ FLORIN_DATA_DIR: folder })
  await makeKeyFile({ path, random: systemRandom, seal: sealFor(key_token, systemRandom) })
  assert.deepEqual(await find('key file'), {
    name: 'key file',
    state: 'ok',
    found: 'k1 is the current key; keep a backup',
    cure: null,
  })
  await chmod(path, 0o640)
  const { state, found, cure } = await find('key file')
  assert.deepEqual([state, found], ['wrong', `${path} is readable by other users`])
  assert.match(cure ?? '', /mode 600/)
})

test('a damaged key file is a fault', async () => {
  await writeFile(join(folder, 'keys.json'), '{', { mode: 0o600 })
  await chmod(join(folder, 'keys.json'), 0o600)
  assert.equal((await find('key file')).state, 'wrong')
})
