import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { formatCountdown, formatDate, formatEnd, formatTime } from './time.tsx'

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

test('the end of a period has no day if it is the day of the start', () => {
  const start = new Date(2026, 10, 18, 15, 50)
  assert.equal(plain(formatEnd(new Date(2026, 10, 18, 16, 50), start, now)), '4:50 PM')
  assert.equal(plain(formatEnd(new Date(2026, 10, 19, 0, 50), start, now)), 'Nov 19, 12:50 AM')
  const next_year = new Date(2027, 0, 3, 15, 50)
  assert.equal(formatEnd(new Date(2027, 0, 3, 16, 50), next_year, now), 'Jan 3, 2027')
})

test('a countdown shows hours only if there are any, and stops at zero', () => {
  assert.equal(formatCountdown(3_543_999), '59:03')
  assert.equal(formatCountdown(3_600_000), '1:00:00')
  assert.equal(formatCountdown(-5_000), '00:00')
})
