import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

test('importing the library prints nothing, and other warnings are still printed', () => {
  const library = new URL('./library.js', import.meta.url).href
  const script = `await import('${library}'); console.warn('another warning')`
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', script],
    { encoding: 'utf8' },
  )
  assert.deepEqual([stdout, stderr], ['', 'another warning\n'])
})
