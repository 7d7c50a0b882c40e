import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import type { Engine } from '#domain/authorizations/engine.ts'
import { writeFrame } from '#iso8583/frame.ts'
import { default_link } from '#iso8583/links.ts'
import {
  encodeStandard,
  sampleOf,
  standard_elements,
} from '#test/fixtures/iso8583/standard_1987.ts'
import { cardPeer, managementMessage } from '#test/support/card_peer.ts'
import { hostSettings } from '#test/support/host_settings.ts'
import { insertBareCard, openIssuer, purchaseMessage } from '#test/support/issuer.ts'
import { startCardHost } from './card_host.ts'

const issuer = await openIssuer()
const card = await insertBareCard(issuer, { usd: 10_000 })

async function startHost(engine: Engine = issuer.engine) {
  const host = await startCardHost({ ...issuer.host, engine }, hostSettings())
  after(() => host.stop())
  return host
}

const host = await startHost()
const dial = (port = host.port, allowHalfOpen = false) =>
  cardPeer(connect({ port, host: '127.0.0.1', allowHalfOpen }))

const purchases = (count: number) => Array.from({ length: count }, () => purchaseMessage(card, 100))

async function transactionsOf(messages: readonly { fields: Record<number, string> }[]) {
  const references = messages.map(({ fields }) => fields[37])
  const rows = await issuer.db.rows<{ merchant_country: string }>(
    'select merchant_country from transactions where retrieval_reference_number = any($1)',
    [references],
  )
  return rows
}

/** Values that the host reads itself, where the standard's format alone would not be enough. */
const MEANT: Readonly<Record<number, string>> = {
  14: card.expiry,
  43: 'Test Shop                City         US',
  44: 'AB',
  48: '6301X',
  49: 'USD',
  54: '0001840C000000001000',
  90: '0'.repeat(42),
  95: '0'.repeat(42),
}
/** Elements that every purchase has already, or that are a card number of their own. */
const KEPT: ReadonlySet<number> = new Set([2, 3, 4, 7, 11, 32, 37])

test('a purchase with any element of the standard is answered, and never for its format', async () => {
  const peer = dial()
  const others = standard_elements.filter(({ element }) => !KEPT.has(element))
  for (const row of others) {
    const value = MEANT[row.element] ?? sampleOf(row, Math.min(row.length_max, 100))
    const { mti, fields } = purchaseMessage(card, 100, { fields: { [row.element]: value } })
    peer.write(writeFrame(default_link.frame, encodeStandard({ mti, fields })))
  }
  const answers = await peer.hears(others.length, 20_000)
  const refused = answers.filter(({ fields }) => fields[39] === '30')
  assert.equal(refused.length, 0)
  assert(!peer.isClosed())
})

test('a purchase with element 8 or 24 is approved, and keeps it among its details', async () => {
  const peer = dial()
  const message = purchaseMessage(card, 100, { fields: { 8: '00000000', 24: '200' } })
  peer.write(writeFrame(default_link.frame, encodeStandard(message)))
  const [answer] = await peer.hears(1)
  assert.equal(answer?.fields[39], '00')
  const [kept] = await issuer.db.rows<{ fields: string }>(
    `select m.fields from network_messages m join transactions t on t.id = m.transaction_id
      where t.retrieval_reference_number = $1`,
    [message.fields[37]],
  )
  const fields = JSON.parse(kept?.fields ?? '') as Record<string, string>
  assert.deepEqual([fields['8'], fields['24']], ['00000000', '200'])
})

test("a merchant's country in lower case is read", async () => {
  const peer = dial()
  const message = purchaseMessage(card, 100, { fields: { 43: `${'Shop'.padEnd(38)}us` } })
  peer.write(message)
  assert.equal((await peer.hears(1))[0]?.fields[39], '00')
  assert.deepEqual(await transactionsOf([message]), [{ merchant_country: 'US' }])
})

const unreadable: Readonly<Record<string, Buffer>> = {
  'no message at all': Buffer.from([0, 4, 0x58, 0x58, 0x58, 0x58]),
  'a length beyond the limit': Buffer.from([0xff, 0xff, 1, 2, 3]),
  'a bitmap that announces a third one': Buffer.concat([
    Buffer.from([0, 20]),
    Buffer.from('0100'),
    Buffer.from('80000000000000008000000000000000', 'hex'),
  ]),
}

for (const [name, bytes] of Object.entries(unreadable)) {
  test(`${name} costs no answer to the messages before it, and ends the link in order`, async () => {
    const peer = dial()
    const [before, behind] = [purchases(20), purchases(5)]
    peer.write(...before, bytes, ...behind)
    await peer.closes()
    assert(peer.isEnded(), 'no reset')
    assert.deepEqual(
      peer.heard.map(({ fields }) => [fields[11], fields[39]]).sort(),
      before.map(({ fields }) => [fields[11], '00']).sort(),
    )
    assert.equal((await transactionsOf(before)).length, 20)
    assert.deepEqual(await transactionsOf(behind), [], 'nothing behind it is processed')
  })
}

const never: Engine = {
  submit: () => new Promise(() => undefined),
  load: () => 0,
  drain: async () => undefined,
}

test('behind an unreadable frame an undecided message still gets its 91 before the end', async () => {
  const slow = await startHost(never)
  const peer = dial(slow.port)
  peer.write(purchaseMessage(card, 100), Buffer.from([0, 4, 0x58, 0x58, 0x58, 0x58]))
  await peer.closes()
  assert.deepEqual(
    peer.heard.map(({ fields }) => fields[39]),
    ['91'],
  )
})

test('a peer that goes on sending behind an unreadable frame is cut off', async () => {
  const peer = dial(host.port, true)
  peer.write(Buffer.from([0, 4, 0x58, 0x58, 0x58, 0x58]))
  const stopSending = issuer.clock.every(50, () => void peer.socket.write(Buffer.alloc(1_000)))
  after(stopSending)
  await peer.closes(8_000)
})

test('a peer that closes its side after its last question gets its answers', async () => {
  const peer = dial(host.port, true)
  const messages = purchases(20)
  peer.write(managementMessage('001'), ...messages)
  peer.socket.end()
  await peer.closes()
  assert(peer.isEnded(), 'no reset')
  assert.equal(peer.heard.filter(({ fields }) => fields[39] === '00').length, 21)
})
