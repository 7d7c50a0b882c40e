import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDay, formatTimestamp } from './timestamp.ts'

test('sentences for people have dates as they write them, in UTC', () => {
  const at = new Date('2026-11-08T23:04:59.999Z')
  assert.equal(formatDay(at), 'Nov 8, 2026')
  assert.equal(formatTimestamp(at), 'Nov 8, 2026, 23:04 UTC')
  assert.equal(formatTimestamp(new Date('2027-01-01T00:00:00Z')), 'Jan 1, 2027, 00:00 UTC')
})
