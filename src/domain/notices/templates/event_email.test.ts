import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventEmail } from './event_email.ts'

const event = (type: string, message: string) => ({
  account_id: 'acct_1',
  id: 'evt_1',
  sequence: 1n,
  type,
  severity: 'info' as const,
  message,
  created_at: new Date('2026-11-15T09:30:00Z'),
})

test('the subject leads with the outcome, amount and merchant of the event', () => {
  const message = 'Declined: $15.49 at Netflix (card frozen).'
  assert.deepEqual(eventEmail(event('transaction.declined', message)), {
    subject: 'Declined: $15.49 at Netflix (card frozen)',
    lines: [
      message,
      'Open the transaction in your account to see what to change.',
      'Time: 2026-11-15 09:30 UTC',
    ],
  })
})

test('a long message gets a short subject of its own', () => {
  const long = event('system.maintenance', 'Scheduled maintenance from 2026-11-16 to 2026-11-17: …')
  assert.equal(eventEmail(long).subject, 'Scheduled maintenance')
})
