import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { temporaryFolder } from '#test/support/florin_process.ts'
import { UsageError } from './exit_codes.ts'
import { keysRetire, keysRotate, keysStatus } from './keys.ts'

test('keys rotate refuses a time that is no number of minutes, or more than a week away', async () => {
  for (const activateAfter of ['', ' ', 'x', '-5', '1e3', '0x5', 'Infinity', '10081']) {
    const isRefused = (cause: unknown) =>
      cause instanceof UsageError &&
      cause.message.includes(`from 0 to 10080 (got "${activateAfter}")`)
    await assert.rejects(keysRotate({ activateAfter }), isRefused)
  }
})

test('commands that read the key file create none in a folder without one', async (t) => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const before = process.env['FLORIN_DATA_DIR']
  t.after(() => {
    if (before === undefined) delete process.env['FLORIN_DATA_DIR']
    else process.env['FLORIN_DATA_DIR'] = before
  })
  process.env['FLORIN_DATA_DIR'] = folder.path
  for (const run of [keysStatus, () => keysRetire({}), () => keysRotate({ activateAfter: '0' })]) {
    await assert.rejects(run, /There is no key file at .* yet/)
  }
  assert.deepEqual(await readdir(folder.path), [])
})
