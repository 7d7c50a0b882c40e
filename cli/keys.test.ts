import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UsageError } from './exit_codes.ts'
import { keysRotate } from './keys.ts'

test('keys rotate refuses a time that is no number of minutes, or more than a week away', async () => {
  for (const activateAfter of ['', ' ', 'x', '-5', '1e3', '0x5', 'Infinity', '10081']) {
    const isRefused = (cause: unknown) =>
      cause instanceof UsageError &&
      cause.message.includes(`from 0 to 10080 (got "${activateAfter}")`)
    await assert.rejects(keysRotate({ activateAfter }), isRefused)
  }
})
