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

function incrementOf(card: BareCard, { fields }: ReturnType<typeof purchaseMessage>) {
  const { 7: sent, 11: stan, 37: number } = fields
  const original = `0100${stan}${sent}00000400001${'0'.repeat(11)}`
  return purchaseMessage(card, 500, { fields: { 37: number, 90: original }, now })
}

test('a hold that an increment extends before its expiry is decided stays', async () => {
  const { card, message } = await openAuthorized()
  pass(WEEK_MS)
  const increment = incrementOf(card, message)
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

const earliestOf = async ({ id }: BareCard): Promise<Date | null> => {
  const [purse] = await db.rows<{ holds_expire_at: Date | null }>(
    `select holds_expire_at from purses where owner_id = $1 and kind = 'card'`,
    [id],
  )
  return purse?.holds_expire_at ?? null
}

test('each hold of a card expires at its own time, and then the card has no expiry', async () => {
  const { card } = await openAuthorized()
  const first = await earliestOf(card)
  pass(WEEK_MS / 2)
  assert.equal((await issuer.ask(purchaseMessage(card, 500, { now }))).fields[39], '00')
  assert.deepEqual(await earliestOf(card), first)
  pass(WEEK_MS / 2)
  await task.run()
  const held = async () => (await authorizationsOf(card)).map((one) => one.held)
  assert.deepEqual(await held(), [0, 5])
  pass(WEEK_MS / 2)
  await task.run()
  assert.deepEqual(await held(), [0, 0])
  assert.equal(await earliestOf(card), null)
  await assertBooksSound(db)
})

test('a hold that a node with an earlier clock increments expires at its new time', async () => {
  const { card, message } = await openAuthorized()
  pass(-400)
  assert.equal((await issuer.ask(incrementOf(card, message))).fields[39], '00')
  await assertBooksSound(db)
  pass(WEEK_MS)
  await task.run()
  const [expired] = await authorizationsOf(card)
  assert.deepEqual([expired?.status, expired?.held], ['expired', 0])
})

test('a stand-in approval that holds nothing expires, too', async () => {
  const card = await insertBareCard(issuer, { usd: 0 })
  await issuer.ask(purchaseMessage(card, 700, { mti: '0120', now }))
  const [before] = await authorizationsOf(card)
  assert.deepEqual([before?.status, before?.held], ['pending', 0])
  pass(WEEK_MS)
  await task.run()
  assert.equal((await authorizationsOf(card))[0]?.status, 'expired')
  await assertBooksSound(db)
})

test('a hold that cannot be expired is tried again and stops no other', async () => {
  const [{ card: stuck }, { card }] = [await openAuthorized(), await openAuthorized()]
  pass(WEEK_MS)
  const failing: Engine = {
    ...engine,
    submit: (request) =>
      request.pan_hash === hashOf(stuck)
        ? Promise.reject(new Error('not now'))
        : engine.submit(request),
  }
  await assert.rejects(expireAuthorizationsTask({ db, clock, engine: failing }).run(), {
    message: 'some holds did not expire',
  })
  assert.equal((await authorizationsOf(card))[0]?.status, 'expired')
  assert.equal((await authorizationsOf(stuck))[0]?.status, 'pending')
  await task.run()
  assert.equal((await authorizationsOf(stuck))[0]?.status, 'expired')
})

test('the holds of a card that is locked are looked at again by the next run', async () => {
  const { card } = await openAuthorized()
  pass(WEEK_MS)
  await task.run()
  // As if a run had ended before it could note the next expiry.
  await db.run('update purses set holds_expire_at = $2 where owner_id = $1', [card.id, now])
  await db.transaction(async (tx) => {
    await tx.rows('select from cards where id = $1 for update', [card.id])
    await task.run()
    assert.deepEqual(await earliestOf(card), now)
  })
  await task.run()
  assert.equal(await earliestOf(card), null)
})

test('more cards than one step takes expire in one run', async () => {
  const opened: BareCard[] = []
  while (opened.length < 220) {
    const some = await Promise.all(Array.from({ length: 20 }, openAuthorized))
    opened.push(...some.map(({ card }) => card))
  }
  pass(WEEK_MS)
  await task.run()
  const open = await db.rows(
    'select from transactions where open_micros > 0 and card_id = any($1)',
    [opened.map(({ id }) => id)],
  )
  assert.equal(open.length, 0)
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
