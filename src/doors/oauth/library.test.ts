import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

test('reading the library prints nothing, and other warnings still come through', () => {
  const library = new URL('./library.js', import.meta.url).href
  const script = `await import('${library}'); console.warn('a warning of somebody else')`
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', script],
    { encoding: 'utf8' },
  )
  assert.deepEqual([stdout, stderr], ['', 'a warning of somebody else\n'])
})
