import assert from 'node:assert/strict'
import { test } from 'node:test'
import { panHash } from '#domain/cards/pan_vault.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { type BareCard, insertBareCard, openIssuer, purchaseMessage } from '#test/support/issuer.ts'
import { assertBooksSound } from '#test/support/money.ts'
import type { Engine } from './engine.ts'
import { expireAuthorization, expireAuthorizationsTask } from './expire_authorizations_task.ts'

const WEEK_MS = 7 * 86_400_000
let now = new Date('2031-03-04T12:00:00.000Z')
const issuer = await openIssuer({ clock: { ...systemClock(), now: () => now } })
const { db, clock, engine } = issuer
const task = expireAuthorizationsTask({ db, clock, engine })

type Authorization = { id: string; status: string; held: number; expires_at: Date }

async function authorizationsOf({ id }: BareCard): Promise<Authorization[]> {
  return db.rows<Authorization>(
    `select id, status, (held_micros / 1000000)::int as held, expires_at
       from transactions where card_id = $1 and type = 'authorization' order by id`,
    [id],
  )
}

async function openAuthorized() {
  const card = await insertBareCard(issuer)
  const message = purchaseMessage(card, 1_000, { now })
  assert.equal((await issuer.ask(message)).fields[39], '00')
  return { card, message }
}

const hashOf = ({ pan }: BareCard) => panHash(issuer.dependencies.keys, pan)

const pass = (ms: number) => {
  now = new Date(now.getTime() + ms)
}

test('releases a hold after seven days, and not a millisecond before', async () => {
  const { card } = await openAuthorized()
  pass(WEEK_MS - 1)
  await task.run()
  const [before] = await authorizationsOf(card)
  assert.deepEqual([before?.status, before?.held], ['pending', 10])
  pass(1)
  await task.run()
  const [after] = await authorizationsOf(card)
  assert.deepEqual([after?.status, after?.held], ['expired', 0])
  await assertBooksSound(db)
})

test('expires each hold once and emits one event, however often it runs', async () => {
  const { card } = await openAuthorized()
  pass(WEEK_MS)
  await Promise.all([task.run(), task.run()])
  await task.run()
  const events = await db.rows(
    `select 1 from events where account_id = $1 and type = 'transaction.expired'`,
    [card.account_id],
  )
  assert.equal(events.length, 1)
})

test('an advice after the expiry holds its amount again', async () => {
  const { card, message } = await openAuthorized()
  pass(WEEK_MS)
  await task.run()
  const fields = { 37: message.fields[37] }
  await issuer.ask(purchaseMessage(card, 700, { mti: '0120', fields, now }))
  const [reopened] = await authorizationsOf(card)
  assert.deepEqual([reopened?.status, reopened?.held], ['pending', 7])
  await assertBooksSound(db)
})

test('a partly captured purchase keeps its status and releases the rest', async () => {
  const { card, message } = await openAuthorized()
  const fields = { 37: message.fields[37] }
  await issuer.ask(purchaseMessage(card, 400, { mti: '0220', fields, now }))
  pass(WEEK_MS)
  await task.run()
  const [after] = await authorizationsOf(card)
  assert.deepEqual([after?.status, after?.held], ['partially_captured', 0])
  await assertBooksSound(db)
})

test('a hold that an increment extends before its expiry is decided stays', async () => {
  const { card, message } = await openAuthorized()
  pass(WEEK_MS)
  const { 7: sent, 11: stan, 37: number } = message.fields
  const original = `0100${stan}${sent}00000400001${'0'.repeat(11)}`
  const increment = purchaseMessage(card, 500, { fields: { 37: number, 90: original }, now })
  const extending: Engine = {
    ...engine,
    submit: async (request) => {
      if (request.pan_hash === hashOf(card)) await issuer.ask(increment)
      return engine.submit(request)
    },
  }
  await expireAuthorizationsTask({ db, clock, engine: extending }).run()
  const [held] = await authorizationsOf(card)
  assert.deepEqual([held?.status, held?.held], ['pending', 15])
  pass(WEEK_MS)
  await task.run()
  assert.equal((await authorizationsOf(card))[0]?.status, 'expired')
  await assertBooksSound(db)
})

test('one authorization can be expired early, within its own account only', async () => {
  const { card } = await openAuthorized()
  const [row] = await authorizationsOf(card)
  const other = await insertBareCard(issuer)
  await expireAuthorization({ db, clock, engine }, other.account_id, row?.id ?? '')
  assert.equal((await authorizationsOf(card))[0]?.status, 'pending')
  await expireAuthorization({ db, clock, engine }, card.account_id, row?.id ?? '')
  assert.equal((await authorizationsOf(card))[0]?.status, 'expired')
})

test('deletes early reversals after a week', async () => {
  const card = await insertBareCard(issuer)
  const original = `0100000001030412000000000400001${'0'.repeat(11)}`
  await issuer.ask(purchaseMessage(card, 100, { mti: '0420', fields: { 90: original }, now }))
  const count = async () => (await db.rows('select 1 from early_reversals')).length
  assert.equal(await count(), 1)
  pass(WEEK_MS)
  await task.run()
  assert.equal(await count(), 1)
  pass(1)
  await task.run()
  assert.equal(await count(), 0)
})
