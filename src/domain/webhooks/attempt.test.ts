import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeHttpClient } from '#platform/http_client/http_client.ts'
import { respondWith, startReceiver } from '#test/support/receiver.ts'
import { startTestService } from '#test/support/start.ts'
import { sendAttempt } from './attempt.ts'
import { newSecret, signingSecrets } from './webhook.ts'

const { runtime } = await startTestService()
const { keys, clock, newId, random } = runtime
const http = makeHttpClient({ allow_loopback_http: true })
const receiver = await startReceiver()

const attempt = () =>
  sendAttempt(
    { http, keys, clock, newId },
    {
      account_id: 'acct_1',
      webhook_id: 'wh_1',
      event_id: 'evt_1',
      event_type: 'card.loaded',
      body: '{}',
      url: receiver.url,
      secret_sealed: newSecret({ random, keys }, 'wh_1').secret_sealed,
      previous_secret_sealed: null,
      previous_secret_expires_at: null,
    },
  )

test('only a 2xx response is a success; redirects and errors are failures', async () => {
  const expected = { succeeded: [200, 201, 204, 299], failed: [300, 302, 307, 400, 404, 410, 500] }
  for (const [status, codes] of Object.entries(expected)) {
    for (const code of codes) {
      receiver.respond = respondWith(code, { location: 'https://elsewhere.example/' })
      const outcome = await attempt()
      assert.deepEqual([outcome.status, outcome.response_status], [status, code])
    }
  }
})

test('Retry-After counts for failures only', async () => {
  for (const [code, expected] of [
    [503, 120_000],
    [200, null],
  ] as const) {
    receiver.respond = respondWith(code, { 'retry-after': '120' })
    assert.equal((await attempt()).retry_after_ms, expected)
  }
})

test('a rotated secret signs before its grace period ends, and not at that instant', () => {
  const now = clock.now()
  const sealed = () => newSecret({ random, keys }, 'wh_2').secret_sealed
  const countAt = (previous_secret_expires_at: Date | null) =>
    signingSecrets(
      keys,
      {
        webhook_id: 'wh_2',
        secret_sealed: sealed(),
        previous_secret_sealed: sealed(),
        previous_secret_expires_at,
      },
      now,
    ).length
  assert.equal(countAt(new Date(now.getTime() + 1)), 2)
  assert.equal(countAt(now), 1)
  assert.equal(countAt(null), 1)
})
