import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '#domain/context/context.ts'
import { frozenBy } from './card.ts'
import { spendingWindow } from './limits.ts'

test('frozen_by is agent for an OAuth client and owner for a session or an API key', () => {
  const by = (kind: Caller['kind']) => frozenBy({ kind })
  assert.deepEqual((['oauth_client', 'session', 'api_key'] as const).map(by), [
    'agent',
    'owner',
    'owner',
  ])
})

test('spending windows end at midnight UTC, also at a year end and on a leap day', () => {
  const cases = [
    ['2027-12-31T23:59:59.999Z', '2027-12-31', '2027-12-01', '2028-01-01', '2028-01-01'],
    ['2028-01-01T00:00:00.000Z', '2028-01-01', '2028-01-01', '2028-01-02', '2028-02-01'],
    ['2028-02-28T12:00:00.000Z', '2028-02-28', '2028-02-01', '2028-02-29', '2028-03-01'],
    ['2028-02-29T23:00:00.000Z', '2028-02-29', '2028-02-01', '2028-03-01', '2028-03-01'],
  ] as const
  for (const [now, day, month_start, daily, monthly] of cases) {
    const window = spendingWindow(new Date(now))
    assert.deepEqual([window.day, window.month_start], [day, month_start])
    assert.equal(window.daily_resets_at.toISOString(), `${daily}T00:00:00.000Z`)
    assert.equal(window.monthly_resets_at.toISOString(), `${monthly}T00:00:00.000Z`)
  }
})
