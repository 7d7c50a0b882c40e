import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { createdRange } from './period.tsx'

test('a custom range includes its last day, in the time zone of the user', () => {
  const range = createdRange({ period: 'between', from: '2026-11-01', to: '2026-11-30' })
  assert.deepEqual(range, {
    created_gte: new Date(2026, 10, 1).toISOString(),
    created_lt: new Date(2026, 11, 1).toISOString(),
  })
  assert.deepEqual(createdRange({ period: 'between', from: '', to: '' }), {})
})

test('a number of days counts back from now, to the minute', () => {
  const { created_gte = '' } = createdRange({ period: '7', from: '', to: '' })
  const days = (Date.now() - Date.parse(created_gte)) / 86_400_000
  assert(days >= 7 && days < 7.001, `${days}`)
  assert.match(created_gte, /:00\.000Z$/)
})

test('a period that someone typed into the URL filters nothing', () => {
  assert.deepEqual(createdRange({ period: 'soon', from: '', to: '' }), {})
})

test('days of a report are UTC days', () => {
  const range = createdRange({
    period: 'between',
    from: '2026-11-01',
    to: '2026-11-30',
    zone: 'utc',
  })
  assert.deepEqual(range, {
    created_gte: '2026-11-01T00:00:00.000Z',
    created_lt: '2026-12-01T00:00:00.000Z',
  })
})
