import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { default_link } from '#iso8583/links.ts'
import { encode } from '#iso8583/message.ts'
import { DatabaseUnavailable } from '#platform/postgres/db.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { cardRequest, new_card } from '#test/support/card_batch.ts'
import { eventually } from '#test/support/eventually.ts'
import { insertBareCard, issuerOver, openIssuer, purchaseMessage } from '#test/support/issuer.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { type Engine, ENGINE_LIMITS as limits, makeEngine } from './engine.ts'
import { expireAuthorization } from './expire_authorizations_task.ts'

const issuer = await openIssuer()
const { db } = issuer

async function purses(card_id: string): Promise<Record<string, bigint>> {
  const rows = await db.rows<{ kind: string; balance_micros: bigint }>(
    'select kind, balance_micros from purse_balances where owner_id = $1',
    [card_id],
  )
  return Object.fromEntries(rows.map((row) => [row.kind, row.balance_micros]))
}

test('an approval holds the amount once, and every repeat gets the same bytes', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const body = encode(default_link, purchaseMessage(card, 1_000))
  const answers = await Promise.all(Array.from({ length: 50 }, () => issuer.askBytes(body)))
  const later = await issuer.askBytes(body)
  const texts = new Set(
    [...answers, later].map((bytes) => Buffer.from(bytes ?? []).toString('hex')),
  )
  assert.equal(texts.size, 1)
  assert.deepEqual(await purses(card.id), { card: 90_000_000n, hold: 10_000_000n })
  await assertBooksSound(db)
})

test('the same message with another amount is refused and changes nothing', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const message = purchaseMessage(card, 1_000)
  assert.equal((await issuer.ask(message)).fields[39], '00')
  const other = { ...message, fields: { ...message.fields, 4: '000000002000' } }
  assert.equal((await issuer.ask(other)).fields[39], '94')
  assert.deepEqual(await purses(card.id), { card: 90_000_000n, hold: 10_000_000n })
})

test('of thirty concurrent purchases on two nodes exactly ten fit the daily limit', async () => {
  const second = await openIssuer({ database_url: issuer.url, data_dir: issuer.data_dir })
  const card = await insertBareCard(issuer, { usd: 1_000 })
  await db.run('update cards set daily_micros = 100000000 where id = $1', [card.id])
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      (at % 2 === 0 ? issuer : second).ask(purchaseMessage(card, 1_000)),
    ),
  )
  const codes = answers.map(({ fields }) => fields[39])
  assert.equal(codes.filter((code) => code === '00').length, 10)
  assert.equal(codes.filter((code) => code === '61').length, 20)
  await assertBooksSound(db)
})

test('one message sent to two nodes at the same time has one effect and one response', async () => {
  const second = await openIssuer({ database_url: issuer.url, data_dir: issuer.data_dir })
  const card = await insertBareCard(issuer, { usd: 100 })
  const stranger = { pan: '4000000000000002', expiry: card.expiry }
  for (const whose of [card, stranger]) {
    const body = encode(default_link, purchaseMessage(whose, 1_000))
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? issuer : second).askBytes(body)),
    )
    const texts = new Set(answers.map((bytes) => Buffer.from(bytes ?? []).toString('hex')))
    assert.equal(texts.size, 1)
  }
  assert.deepEqual(await purses(card.id), { card: 90_000_000n, hold: 10_000_000n })
})

test('after a failed look-up of its card, a message that may be of another cell is refused', async () => {
  const down = { ...db, rows: () => Promise.reject(new DatabaseUnavailable('down')) }
  const engine = makeEngine({ ...issuer.dependencies, db: down })
  const stranger = cardRequest({ ...new_card, pan_hash: 'of another cell' }, 'capture')
  let is_elsewhere = false
  const submitToOtherCell = async () => {
    is_elsewhere = true
    return issuer.engine.submit(stranger)
  }
  await assert.rejects(engine.submit(stranger, submitToOtherCell), DatabaseUnavailable)
  assert(!is_elsewhere)
  assert.equal(engine.load(), 0, 'and no lane of this cell has it')
})

test('a message that fails its batch of a hundred is answered alone', async () => {
  const card = await insertBareCard(issuer, { usd: 1_000 })
  const messages = Array.from({ length: 100 }, () => purchaseMessage(card, 100))
  const poisoned = messages[42]
  assert(poisoned)
  // The database refuses such text, so the whole batch fails.
  const reference = poisoned.fields[37]
  const submit = issuer.engine.submit
  const engine = {
    ...issuer.engine,
    submit: (request: Parameters<typeof submit>[0]) =>
      submit(
        request.reference.retrieval_reference_number === reference
          ? { ...request, merchant: { ...request.merchant, merchant_name: 'a\u0000b' } }
          : request,
      ),
  }
  const spoiled = issuerOver(issuer.dependencies, engine)
  const answers = await Promise.all(messages.map((message) => spoiled.ask(message)))
  const codes = answers.map(({ fields: answer }) => answer[39])
  assert.equal(codes[42], '96')
  assert.equal(codes.filter((code) => code === '00').length, 99)
  await assertBooksSound(db)
})

test('a reversal that arrives before its purchase leaves nothing held', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const purchase = purchaseMessage(card, 1_000)
  const { 7: sent, 11: stan } = purchase.fields
  const original = `0100${stan}${sent}00000400001${'0'.repeat(11)}`
  const reversal = purchaseMessage(card, 1_000, { mti: '0400', fields: { 90: original } })
  assert.equal((await issuer.ask(reversal)).fields[39], '25')
  const answer = await issuer.ask(purchase)
  assert.equal(answer.fields[39], '94')
  assert.equal((await purses(card.id))['card'], 100_000_000n)
  const advice = purchaseMessage(card, 1_000, { mti: '0420', fields: { 90: original } })
  assert.equal((await issuer.ask(advice)).fields[39], '00')
  await assertBooksSound(db)
})

test('the kill switch declines requests and accepts advices', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const purchase = purchaseMessage(card, 1_000)
  assert.equal((await issuer.ask(purchase)).fields[39], '00')
  await db.run(`update kill_switches set is_on = true where rail = 'authorizations'`)
  try {
    assert.equal((await issuer.ask(purchaseMessage(card, 500))).fields[39], '91')
    const capture = purchaseMessage(card, 1_000, {
      mti: '0220',
      fields: { 37: purchase.fields[37] },
    })
    assert.equal((await issuer.ask(capture)).fields[39], '00')
  } finally {
    await db.run(`update kill_switches set is_on = false where rail = 'authorizations'`)
  }
  assert.deepEqual(await purses(card.id), { card: 90_000_000n, hold: 0n })
})

/** Holds the lock of a card for a while, as a call that takes too long would. */
async function holdLock(card_id: string, for_ms: number): Promise<{ released: Promise<void> }> {
  let locked = () => {}
  const isLocked = new Promise<void>((resolve) => {
    locked = resolve
  })
  const released = db.transaction(async (tx) => {
    await tx.rows('select 1 from cards where id = $1 for update', [card_id])
    locked()
    await wait(for_ms)
  })
  await isLocked
  return { released }
}

test('a card that is locked for long does not delay or fail messages of other cards', async () => {
  const limited = await openIssuer({ database_url: issuer.url, data_dir: issuer.data_dir, limits })
  const stuck = await insertBareCard(issuer, { usd: 100 })
  const { account_id } = stuck
  const others = await Promise.all(
    Array.from({ length: 5 }, () => insertBareCard(issuer, { usd: 100, account_id })),
  )
  const { released } = await holdLock(stuck.id, 2_500)
  const codes = await Promise.all(
    [stuck, ...others].map(async (card) => {
      return (await limited.ask(purchaseMessage(card, 1_000))).fields[39]
    }),
  )
  assert.deepEqual(codes, ['91', '00', '00', '00', '00', '00'])
  await released
  assert.equal((await limited.ask(purchaseMessage(stuck, 1_000))).fields[39], '00')
})

test('a message whose card is locked waits without its batch', async () => {
  const limited = await openIssuer({ database_url: issuer.url, data_dir: issuer.data_dir, limits })
  const stuck = await insertBareCard(issuer, { usd: 100 })
  const other = await insertBareCard(issuer, { usd: 100, account_id: stuck.account_id })
  const { released } = await holdLock(stuck.id, limits.lock_ms)
  const started = performance.now()
  const waiting = limited.ask(purchaseMessage(stuck, 1_000))
  assert.equal((await limited.ask(purchaseMessage(other, 1_000))).fields[39], '00')
  assert(performance.now() - started < limits.lock_ms, 'answered while the lock is held')
  assert.equal((await waiting).fields[39], '00')
  await released
})

test('a message whose card is locked briefly is approved, not declined', async () => {
  const limited = await openIssuer({ database_url: issuer.url, data_dir: issuer.data_dir, limits })
  const card = await insertBareCard(issuer, { usd: 100 })
  const { released } = await holdLock(card.id, 800)
  assert.equal((await limited.ask(purchaseMessage(card, 1_000))).fields[39], '00')
  await released
})

test('a request whose deadline passes while it waits for a lock is not decided, an advice is', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const submit = issuer.engine.submit
  const engine: Engine = {
    ...issuer.engine,
    submit: (request) => {
      const isRequest = request.deadline_ms < Number.POSITIVE_INFINITY
      const deadline_ms = issuer.clock.monotonic() + 250
      return submit(isRequest ? { ...request, deadline_ms } : request)
    },
  }
  const hasty = issuerOver(issuer.dependencies, engine)
  const { released } = await holdLock(card.id, 400)
  const purchase = purchaseMessage(card, 1_000)
  const capture = purchaseMessage(card, 500, { mti: '0220' })
  const answers = await Promise.all([purchase, capture].map((message) => hasty.ask(message)))
  assert.deepEqual(
    answers.map(({ fields }) => fields[39]),
    ['91', '00'],
  )
  await released
  assert.deepEqual(await purses(card.id), { card: 95_000_000n, hold: 0n })
  assert.equal((await issuer.ask(purchase)).fields[39], '00', 'a repeat is decided')
  await assertBooksSound(db)
})

/** The statements that wait for a lock. */
async function countWaiting(): Promise<number> {
  const rows = await db.rows(
    `select distinct pid from pg_locks join pg_stat_activity using (pid)
      where datname = current_database() and not granted`,
  )
  return rows.length
}

/** Replaces a card in a transaction that keeps its lock until it is released. */
function replaceSlowly(card_id: string, successor_id: string) {
  let release = () => {}
  let locked = () => {}
  const isReleased = new Promise<void>((done) => {
    release = done
  })
  const isLocked = new Promise<void>((done) => {
    locked = done
  })
  const replaced = db.transaction(async (tx) => {
    await tx.rows('select 1 from cards where id = $1 for update', [card_id])
    locked()
    await isReleased
    const replace = 'update cards set replaced_by = $2 where id = $1'
    await tx.run(replace, [card_id, successor_id])
  })
  return { release, isLocked, replaced }
}

test('a clearing is posted although its card is replaced again and again meanwhile', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const { account_id } = card
  const successors = [1, 2, 3].map(() => insertBareCard(issuer, { usd: 0, account_id }))
  const replacing: ReturnType<typeof replaceSlowly>[] = []
  let answer: Promise<unknown> | undefined
  let is_answered = false
  // Each replacement queues behind the message, so its lock comes before the message's next try.
  for (const { id } of await Promise.all(successors)) {
    const waiting = await countWaiting()
    const next = replaceSlowly(card.id, id)
    const isQueued = async () => (await countWaiting()) > waiting
    if (answer !== undefined) assert(await eventually(isQueued, { within_ms: 2_000 }))
    replacing.at(-1)?.release()
    replacing.push(next)
    await next.isLocked
    answer ??= issuer.ask(purchaseMessage(card, 1_000, { mti: '0220' })).then(({ fields }) => {
      is_answered = true
      return fields[39]
    })
    const isTrying = async () => is_answered || (await countWaiting()) > 0
    assert(await eventually(isTrying, { within_ms: 2_000 }))
  }
  replacing.at(-1)?.release()
  assert.equal(await answer, '00')
  await Promise.all(replacing.map(({ replaced }) => replaced))
  // No card has three successors: their shared counters can't be proven.
  await db.run('update cards set replaced_by = null where account_id = $1', [account_id])
  await db.run('update purses set spent_day = null where account_id = $1', [account_id])
  await assertBooksSound(db)
})

test('an expiry waits under load, while a purchase times out', async () => {
  const limited = await openIssuer({ database_url: issuer.url, data_dir: issuer.data_dir, limits })
  const stuck = await insertBareCard(issuer, { usd: 100 })
  const card = await insertBareCard(issuer, { usd: 100, account_id: stuck.account_id })
  assert.equal((await limited.ask(purchaseMessage(card, 1_000))).fields[39], '00')
  const [open] = await db.rows<{ id: string }>(
    'select id from transactions where card_id = $1 and open_micros > 0',
    [card.id],
  )
  assert(open !== undefined)
  const { released } = await holdLock(stuck.id, 1_250)
  const first = limited.ask(purchaseMessage(stuck, 1_000))
  const isWaiting = async () => (await countWaiting()) > 0
  assert(await eventually(isWaiting, { within_ms: 1_000 }), 'the batch waits for the lock')
  const behind = limited.ask(purchaseMessage(card, 1_000))
  const expired = expireAuthorization(
    { db, clock: limited.clock, engine: limited.engine },
    card.account_id,
    open.id,
  )
  assert.equal((await first).fields[39], '00')
  assert.equal((await behind).fields[39], '91')
  await expired
  await released
  assert.deepEqual(await purses(card.id), { card: 100_000_000n, hold: 0n })
})

test('the event loop turns after every 8 ms of deciding a batch', async () => {
  const MESSAGE_MS = 0.5
  let decided_count = 0
  // By this clock, each decision takes half a millisecond, however fast the machine is.
  const clock = systemClock()
  const monotonic = () => performance.now() + decided_count * MESSAGE_MS
  const slow = await openIssuer({
    database_url: issuer.url,
    data_dir: issuer.data_dir,
    clock: { ...clock, monotonic },
  })
  const card = await insertBareCard(slow, { usd: 1_000 })
  let turn = 0
  let is_over = false
  const decided = new Map<number, number>()
  const count = () => {
    turn += 1
    if (!is_over) setImmediate(count)
  }
  const submit = slow.engine.submit
  const engine = {
    ...slow.engine,
    submit: (request: Parameters<typeof submit>[0]) =>
      submit({
        ...request,
        answer: (decision) => {
          decided_count += 1
          decided.set(turn, (decided.get(turn) ?? 0) + 1)
          return request.answer(decision)
        },
      }),
  }
  const counting = issuerOver(slow.dependencies, engine)
  const messages = Array.from({ length: 512 }, () => purchaseMessage(card, 100))
  count()
  const answers = await Promise.all(messages.map((message) => counting.ask(message)))
  is_over = true
  assert(answers.every(({ fields }) => fields[39] === '00'))
  const most = Math.max(...decided.values())
  assert(most <= 8 / MESSAGE_MS, `${most} were decided in one turn`)
  await assertBooksSound(db)
})
