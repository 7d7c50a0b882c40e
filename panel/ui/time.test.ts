import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { formatCountdown, formatDate, formatTime } from './time.tsx'

/** ICU separates the time from AM or PM by a narrow no-break space. */
const plain = (text: string) => text.replaceAll('\u202f', ' ')

const now = new Date(2026, 10, 16, 9, 30)

test('a timestamp is as short as its distance from today allows', () => {
  assert.equal(plain(formatTime(new Date(2026, 10, 16, 14, 2), now)), '2:02 PM')
  assert.equal(plain(formatTime(new Date(2026, 11, 6, 0, 5), now)), 'Dec 6, 12:05 AM')
  assert.equal(plain(formatTime(new Date(2025, 10, 16, 14, 2), now)), 'Nov 16, 2025')
})

test('a timestamp beside other dates has its date today too', () => {
  assert.equal(plain(formatDate(new Date(2026, 10, 16, 14, 2), now)), 'Nov 16, 2:02 PM')
  assert.equal(plain(formatDate(new Date(2025, 10, 16, 14, 2), now)), 'Nov 16, 2025')
})

test('a countdown shows hours only if there are any, and stops at zero', () => {
  assert.equal(formatCountdown(3_543_999), '59:03')
  assert.equal(formatCountdown(3_600_000), '1:00:00')
  assert.equal(formatCountdown(-5_000), '00:00')
})
