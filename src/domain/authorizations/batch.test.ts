import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutgoingMessage } from '#iso8583/message.ts'
import type { Failpoint } from '#platform/runtime/failpoints.ts'
import { assertEventsAreWhole } from '#test/support/event_proofs.ts'
import { type BareCard, insertBareCard, openIssuer, purchaseMessage } from '#test/support/issuer.ts'
import { assertBooksSound } from '#test/support/money.ts'

let armed: Failpoint | null = null
const issuer = await openIssuer({
  fail: (point) => {
    if (point === armed) throw new Error(`failed at ${point}`)
  },
})
const { db } = issuer

const codeOf = async (message: OutgoingMessage) => (await issuer.ask(message)).fields[39]

/** Everything that the messages of a card have left in the database. */
async function tracesOf({ account_id, id }: BareCard) {
  const [traces] = await db.rows(
    `select (select json_agg(p order by kind) from purse_balances p where account_id = $1) as money,
            (select json_agg(t order by id) from transactions t where card_id = $2) as transactions,
            (select json_agg(e order by id) from events e where account_id = $1) as events,
            (select json_agg(c) from cards c where account_id = $1) as cards,
            (select to_json(h) from account_sequences h where account_id = $1) as head,
            (select count(*) from audit_entries where account_id = $1) as audit_entries,
            (select count(*) from movements where account_id = $1) as movements,
            (select count(*) from network_messages) as messages,
            (select count(*) from early_reversals) as early_reversals,
            (select count(*) from outbox where account_id = $1) as outbox`,
    [account_id, id],
  )
  return traces
}

const original = ({ mti, fields }: OutgoingMessage) =>
  `${mti}${fields[11]}${fields[7]}00000400001${'0'.repeat(11)}`

type Message = (card: BareCard, purchase: OutgoingMessage) => OutgoingMessage
const capture: Message = (card, { fields }) =>
  purchaseMessage(card, 1_000, { mti: '0220', fields: { 37: fields[37] } })
const earlyReversal: Message = (card) =>
  purchaseMessage(card, 500, {
    mti: '0420',
    fields: { 90: original(purchaseMessage(card, 500)) },
  })

const faults: readonly (readonly [Failpoint, Message])[] = [
  ['batch_transactions', (card) => purchaseMessage(card, 500)],
  ['batch_postings', (card) => purchaseMessage(card, 500)],
  ['batch_changes', capture],
  ['batch_early_reversals', earlyReversal],
  ['batch_cards', (card) => purchaseMessage(card, 500)],
  ['batch_events', (card) => purchaseMessage(card, 500)],
  ['batch_audit', (card) => purchaseMessage(card, 500)],
  ['batch_messages', (card) => purchaseMessage(card, 500)],
  ['before_begin', (card) => purchaseMessage(card, 500)],
  ['before_commit', (card) => purchaseMessage(card, 500)],
]

for (const [failpoint, make] of faults) {
  test(`a fault at ${failpoint} leaves nothing of its message, and the repeat is decided once`, async () => {
    const card = await insertBareCard(issuer, { usd: 100 })
    const purchase = purchaseMessage(card, 1_000)
    assert.equal(await codeOf(purchase), '00')
    const message = make(card, purchase)
    const before = await tracesOf(card)
    armed = failpoint
    assert.equal(await codeOf(message).finally(() => (armed = null)), '96')
    assert.deepEqual(await tracesOf(card), before, 'the failed message left nothing')

    assert.equal(await codeOf(message), '00')
    const after = await tracesOf(card)
    assert.notDeepEqual(after, before)
    assert.equal(await codeOf(message), '00')
    assert.deepEqual(await tracesOf(card), after, 'a repeat changes nothing')
    await assertBooksSound(db)
    await assertEventsAreWhole(db)
  })
}

for (const failpoint of ['batch_postings', 'batch_cards', 'batch_events', 'batch_audit'] as const) {
  test(`a fault at ${failpoint} leaves a single-use card unused, and the repeat uses it once`, async () => {
    const card = await insertBareCard(issuer, { usd: 100, usage: { usage: 'single_use' } })
    const message = purchaseMessage(card, 1_000)
    const before = await tracesOf(card)
    armed = failpoint
    assert.equal(await codeOf(message).finally(() => (armed = null)), '96')
    assert.deepEqual(await tracesOf(card), before, 'the failed message left nothing')
    assert.equal(await codeOf(message), '00')
    assert.equal(await codeOf(purchaseMessage(card, 500)), '46')
    await assertBooksSound(db)
    await assertEventsAreWhole(db)
  })
}
