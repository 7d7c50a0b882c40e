import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#platform/runtime/clock.ts'
import { callCard, getCard } from '#test/support/cards.ts'
import { assertEventsAreWhole } from '#test/support/event_proofs.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { createKey, PASSWORD } from '#test/support/people.ts'
import { authorize, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** The machine's clock jumps; the database's clock and the monotonic one do not. */
let jump_ms = 0
const real = systemClock()
const shifted = (date: Date) => new Date(date.getTime() + jump_ms)
const clock = { ...real, now: () => shifted(real.now()), wall: () => shifted(real.wall()) }
const service = await startTestService({ dependencies: { clock } })
const { url, runtime, tasks } = service

const jumpTo = (iso: string) => {
  jump_ms = Date.parse(iso) - Date.now()
}

const signIn = async (email: string) =>
  send(url, 'POST', '/v1/sessions', { body: { email, password: PASSWORD } })

const isSignedIn = async (bearer: string) =>
  (await send(url, 'GET', '/v1/accounts/me', { bearer })).status === 200

const jumps: readonly (readonly [string, number])[] = [
  ['five minutes ahead', 5 * MINUTE_MS],
  ['five minutes behind', -5 * MINUTE_MS],
  ['forty days ahead', 40 * DAY_MS],
  ['forty days behind', -40 * DAY_MS],
  ['the right time again', 0],
]

test('calls and purchases work and books stay sound through every jump of the clock', async (t) => {
  const spender = await openSpender(service, { usd: 100, treasury_usd: 100 })
  let rounds = 0
  for (const [name, ms] of jumps) {
    jump_ms = ms
    const session = await signIn(spender.email)
    assert.equal(session.status, 200, `${name}: ${session.text}`)
    const { key } = await createKey(url, String(session.body['bearer']))
    const load = { bearer: key, body: { amount_usd: 5 }, key: name.replaceAll(' ', '_') }
    for (const isReplay of [false, true]) {
      const reply = await callCard(url, { id: spender.card.id, verb: 'load' }, load)
      assert.equal(reply.status, 200, `${name}: ${reply.text}`)
      assert.equal(reply.headers.get('idempotent-replayed'), isReplay ? 'true' : null, name)
    }
    const purchase = await authorize(url, { ...spender, key }, { amount: 1 })
    assert.equal(purchase.status, 'pending', name)
    await tasks.runAll()
    await assertBooksSound(runtime.db, clock.now())
    await assertEventsAreWhole(runtime.db)
    rounds += 1
  }
  t.diagnostic(`${rounds} jumps, 0 wrong expiries`)
})

test('a session and a hold end by the clock of the service, and not by that of the database', async () => {
  jump_ms = 0
  const spender = await openSpender(service, { usd: 50 })
  const session = String((await signIn(spender.email)).body['bearer'])
  await authorize(url, spender, { amount: 10 })
  const held = async () => {
    await tasks.runAll()
    return (await getCard(url, spender.key, spender.card.id)).held_usd
  }
  jump_ms = 7 * DAY_MS - MINUTE_MS
  assert.deepEqual([await isSignedIn(session), await held()], [true, 10])
  jump_ms = 7 * DAY_MS + MINUTE_MS
  assert.deepEqual([await isSignedIn(session), await held()], [true, 0])
  jump_ms = 30 * DAY_MS - MINUTE_MS
  assert.equal(await isSignedIn(session), true)
  jump_ms = 30 * DAY_MS + MINUTE_MS
  assert.equal(await isSignedIn(session), false)
  jump_ms = -5 * MINUTE_MS
  assert.equal(await isSignedIn(session), true)
})

test('a daily limit resets on 29 February and on 1 March, and not before midnight', async () => {
  jumpTo('2028-02-28T23:59:00Z')
  const spender = await openSpender(service, { usd: 100, limits: { daily_usd: 10 } })
  const buy = async (iso: string) => {
    jumpTo(iso)
    return (await authorize(url, spender, { amount: 10 })).status
  }
  assert.equal(await buy('2028-02-28T23:59:10Z'), 'pending')
  assert.equal(await buy('2028-02-28T23:59:20Z'), 'declined')
  assert.equal(await buy('2028-02-29T00:00:01Z'), 'pending')
  assert.equal(await buy('2028-02-29T23:59:20Z'), 'declined')
  assert.equal(await buy('2028-03-01T00:00:01Z'), 'pending')
  assert.equal(await buy('2028-03-01T00:00:20Z'), 'declined')
  await tasks.runAll()
  await assertBooksSound(runtime.db, clock.now())
})
