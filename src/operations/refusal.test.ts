import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { systemClock } from '#platform/clock.ts'
import { Overdue } from '#platform/write_lane.ts'
import { assertRefused } from '#test/support/calls.ts'
import { authorize, callSandbox, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'
import { problemOf, refusalAnswer } from './refusal.ts'

test('a command that waited too long to be begun is a 503 with Retry-After', () => {
  const { status, headers, body } = refusalAnswer(problemOf(new Overdue('late')), 'req_1')
  assert.equal(status, 503)
  assert.equal(headers['Retry-After'], '1')
  assert.equal(JSON.parse(body).error, 'service_unavailable')
})

test('expire behind a locked card answers 503 with Retry-After, not 500', async () => {
  const clock = systemClock()
  let later_ms = 0
  const monotonic = () => clock.monotonic() + later_ms
  const service = await startTestService({ seams: { clock: { ...clock, monotonic } } })
  const { url, programme } = service
  const spender = await openSpender(service)
  const first = await authorize(url, spender, { amount: 1 })
  const second = await authorize(url, spender, { amount: 2 })
  const expire = (id: string) => callSandbox(url, spender.key, `transactions/${id}/expire`, {})
  const replies = await programme.db.transaction(async (tx) => {
    await tx.run('select 1 from cards where id = $1 for update', [spender.card.id])
    // The first one waits for the lock, the second one behind it for its turn.
    const asked = [expire(first.id)]
    await wait(400)
    asked.push(expire(second.id))
    await wait(400)
    later_ms = 5_000
    return asked
  })
  const late = await replies[1]
  assert(late !== undefined)
  assertRefused(late, 503, 'service_unavailable')
  assert.equal(late.headers.get('retry-after'), '1')
  assert.equal((await expire(second.id)).status, 200)
})
