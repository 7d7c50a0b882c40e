import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordAudit } from '#domain/audit/audit.ts'
import { systemAuditContext } from '#domain/audit/audit_context.ts'
import { verifyAudit } from '#domain/audit/verify_audit.ts'
import { showCard } from '#domain/cards/card_store.ts'
import { default_link } from '#iso8583/links.ts'
import { encode } from '#iso8583/message.ts'
import { assertEventsAreWhole } from '#test/support/event_proofs.ts'
import { type BareCard, insertBareCard, openIssuer, purchaseMessage } from '#test/support/issuer.ts'
import { assertBooksSound } from '#test/support/money.ts'

const issuer = await openIssuer()
const second = await openIssuer({ database_url: issuer.url, data_dir: issuer.data_dir })
const { db } = issuer

const newCard = (fields: { usd?: number; account_id?: string } = {}) =>
  insertBareCard(issuer, { usd: 100, ...fields, usage: { usage: 'single_use' } })

async function moneyOf({ account_id, id }: BareCard) {
  const rows = await db.rows<{ kind: string; usd: number }>(
    `select kind, (balance_micros / 1000000)::int as usd from purse_balances
      where account_id = $1 and (owner_id = $2 or kind = 'treasury')`,
    [account_id, id],
  )
  return Object.fromEntries(rows.map(({ kind, usd }) => [kind, usd]))
}

async function approvalsOf({ id }: BareCard): Promise<number> {
  const rows = await db.rows(
    `select 1 from transactions where card_id = $1 and type = 'authorization'`,
    [id],
  )
  return rows.length
}

test('of forty concurrent purchases on two nodes one is approved and the rest find the card used', async () => {
  for (let round = 0; round < 5; round += 1) {
    const card = await newCard()
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        (at % 2 === 0 ? issuer : second).ask(purchaseMessage(card, 1_000)),
      ),
    )
    const codes = answers.map(({ fields }) => fields[39])
    assert.equal(codes.filter((code) => code === '00').length, 1)
    assert.equal(codes.filter((code) => code === '46').length, 39)
    assert.equal(await approvalsOf(card), 1)
    assert.deepEqual(await moneyOf(card), { card: 0, hold: 10, treasury: 90 })
  }
  await assertBooksSound(db)
  await assertEventsAreWhole(db)
})

test('single-use cards of one account and of many are used once each, on two nodes at the same time', async () => {
  const first = await newCard()
  const { account_id } = first
  const others = await Promise.all([
    ...Array.from({ length: 5 }, () => newCard({ account_id })),
    ...Array.from({ length: 5 }, () => newCard()),
  ])
  const cards = [first, ...others]
  await Promise.all(
    [...cards, ...cards, ...cards].flatMap((card) => [
      issuer.ask(purchaseMessage(card, 500)),
      second.ask(purchaseMessage(card, 700)),
    ]),
  )
  for (const card of cards) assert.equal(await approvalsOf(card), 1)
  await assertBooksSound(db)
  await assertEventsAreWhole(db)
  assert.deepEqual((await verifyAudit(db)).faults, [])
})

test('a purchase and its repeats use the card once, and all get the same bytes', async () => {
  const card = await newCard()
  const body = encode(default_link, purchaseMessage(card, 1_000))
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, at) => (at % 2 === 0 ? issuer : second).askBytes(body)),
  )
  const later = await issuer.askBytes(body)
  const texts = new Set(
    [...answers, later].map((bytes) => Buffer.from(bytes ?? []).toString('hex')),
  )
  assert.equal(texts.size, 1)
  assert.equal(await approvalsOf(card), 1)
})

test('the event shows the card as its GET does, and the audit log names the cancellation', async () => {
  const card = await newCard()
  await issuer.ask(purchaseMessage(card, 1_000))
  const { account_id, id } = card
  const view = await showCard(db, { account_id, id }, issuer.dependencies.clock.now())
  assert.deepEqual(
    [view.status, view.cancel_reason, view.balance_usd, view.held_usd, view.version],
    ['cancelled', 'used', 0, 10, 2],
  )
  assert.equal(view.limits.spent.daily_usd, 10)
  const [event] = await db.rows<{ body: string; message: string }>(
    `select body, message from events where card_id = $1 and type = 'card.cancelled'`,
    [id],
  )
  const { data } = JSON.parse(event?.body ?? '')
  assert.deepEqual(data, { object: view, previous_attributes: { status: 'active' } })
  assert.match(event?.message ?? '', /single-use card ending in \d{4} made its purchase/)
  const entries = await db.rows(
    `select action, actor_type, result, resource_id from audit_entries where account_id = $1`,
    [account_id],
  )
  const entry = { action: 'cancel_card', actor_type: 'system', result: 'success', resource_id: id }
  assert.deepEqual(entries, [entry])
})

test('entries of calls and of used cards form one audit chain, whichever comes first', async () => {
  const { account_id } = await newCard()
  const cards = await Promise.all(Array.from({ length: 12 }, () => newCard({ account_id })))
  const context = systemAuditContext(issuer.dependencies)
  const entry = { action: 'test' }
  await Promise.all(
    cards.flatMap((card, at) => [
      (at % 2 === 0 ? issuer : second).ask(purchaseMessage(card, 500)),
      db.transaction((tx) => recordAudit(tx, account_id, [entry, entry], context)),
    ]),
  )
  for (const card of cards) assert.equal(await approvalsOf(card), 1)
  const entries = await db.rows(
    `select action, count(*)::int from audit_entries where account_id = $1 group by 1 order by 1`,
    [account_id],
  )
  assert.deepEqual(entries, [
    { action: 'cancel_card', count: 12 },
    { action: 'test', count: 24 },
  ])
  assert.deepEqual((await verifyAudit(db)).faults, [])
})

test('the lock of a merchant-locked card is stored with its first approval, whichever node it is on', async () => {
  const card = await insertBareCard(issuer, { usage: { usage: 'merchant_locked' } })
  const at = (name: string) => ({ fields: { 42: name.padEnd(15), 43: name.padEnd(40) } })
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? issuer : second).ask(
        purchaseMessage(card, 100, at(index % 4 < 2 ? 'NETFLIX' : 'HULU')),
      ),
    ),
  )
  const codes = answers.map(({ fields }) => fields[39])
  const { account_id, id } = card
  const view = await showCard(db, { account_id, id }, issuer.dependencies.clock.now())
  const approved = codes.flatMap((code, index) =>
    code === '00' ? [index % 4 < 2 ? 'NETFLIX' : 'HULU'] : [],
  )
  assert.deepEqual([...new Set(approved)], [view.merchant_lock?.id])
  assert.equal(approved.length, 10)
  assert.deepEqual(view.merchant_lock?.name, view.merchant_lock?.id)
  assert.equal(codes.filter((code) => code === '9G').length, 10)
  assert.equal(view.version, 2)
  await assertBooksSound(db)
})
