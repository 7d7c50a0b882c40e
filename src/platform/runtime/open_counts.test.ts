import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localOpenCounts } from './open_counts.ts'

test('counts under every key or none, and a close makes room for one more', () => {
  const counts = localOpenCounts()
  const limits = (credential: string) => [
    { key: 'account', limit: 3 },
    { key: credential, limit: 2 },
  ]
  assert.deepEqual(
    [counts.open(limits('a')), counts.open(limits('a')), counts.open(limits('a'))],
    [true, true, false],
  )
  // The refused one did not count for the account.
  assert.deepEqual([counts.open(limits('b')), counts.open(limits('b'))], [true, false])
  counts.close(limits('a'))
  assert.deepEqual([counts.open(limits('b')), counts.open(limits('b'))], [true, false])
})
