import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import type { Engine } from '#domain/authorizations/engine.ts'
import { writeFrame } from '#iso8583/frame.ts'
import { default_link } from '#iso8583/links.ts'
import { readMasked } from '#iso8583/mask.ts'
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

/** Values for elements whose content the host reads. */
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
/** Elements that every purchase already has. */
const KEPT: ReadonlySet<number> = new Set([2, 3, 4, 7, 11, 32, 37])

test('a purchase with any element of the standard gets no format error', async () => {
  const peer = dial()
  const others = standard_elements.filter(({ element }) => !KEPT.has(element))
  for (const row of others) {
    const value = MEANT[row.element] ?? sampleOf(row, Math.min(row.length_max, 100))
    const { mti, fields } = purchaseMessage(card, 100, { fields: { [row.element]: value } })
    peer.write(writeFrame(default_link.frame, encodeStandard({ mti, fields })))
  }
  const responses = await peer.receive(others.length, 20_000)
  const refused = responses.filter(({ fields }) => fields[39] === '30')
  assert.equal(refused.length, 0)
  assert(!peer.isClosed())
})

test('elements 8 and 24 of a purchase are stored with its message', async () => {
  const peer = dial()
  const message = purchaseMessage(card, 100, { fields: { 8: '00000000', 24: '200' } })
  peer.write(writeFrame(default_link.frame, encodeStandard(message)))
  const [response] = await peer.receive(1)
  assert.equal(response?.fields[39], '00')
  const [kept] = await issuer.db.rows<{ raw: Buffer }>(
    `select m.raw from network_messages m join transactions t on t.id = m.transaction_id
      where t.retrieval_reference_number = $1`,
    [message.fields[37]],
  )
  const { fields } = readMasked(default_link, kept?.raw ?? Buffer.of())
  assert.deepEqual([fields[8], fields[24]], ['00000000', '200'])
})

test('a merchant country in lowercase is accepted', async () => {
  const peer = dial()
  const message = purchaseMessage(card, 100, { fields: { 43: `${'Shop'.padEnd(38)}us` } })
  peer.write(message)
  assert.equal((await peer.receive(1))[0]?.fields[39], '00')
  assert.deepEqual(await transactionsOf([message]), [{ merchant_country: 'US' }])
})

const unreadable: Readonly<Record<string, Buffer>> = {
  'a frame that is not a message': Buffer.from([0, 4, 0x58, 0x58, 0x58, 0x58]),
  'a length beyond the limit': Buffer.from([0xff, 0xff, 1, 2, 3]),
  'a bitmap that announces a third one': Buffer.concat([
    Buffer.from([0, 20]),
    Buffer.from('0100'),
    Buffer.from('80000000000000008000000000000000', 'hex'),
  ]),
}

for (const [name, bytes] of Object.entries(unreadable)) {
  test(`after ${name} earlier messages are responded to and the connection ends`, async () => {
    const peer = dial()
    const [before, behind] = [purchases(20), purchases(5)]
    peer.write(...before, bytes, ...behind)
    await peer.waitForClose()
    assert(peer.isEnded(), 'no reset')
    assert.deepEqual(
      peer.received.map(({ fields }) => [fields[11], fields[39]]).sort(),
      before.map(({ fields }) => [fields[11], '00']).sort(),
    )
    assert.equal((await transactionsOf(before)).length, 20)
    assert.deepEqual(await transactionsOf(behind), [], 'later messages are not processed')
  })
}

const never: Engine = {
  submit: () => new Promise(() => undefined),
  load: () => 0,
  drain: async () => undefined,
}

test('an undecided message gets its 91 before an unreadable frame ends the connection', async () => {
  const slow = await startHost(never)
  const peer = dial(slow.port)
  peer.write(purchaseMessage(card, 100), Buffer.from([0, 4, 0x58, 0x58, 0x58, 0x58]))
  await peer.waitForClose()
  assert.deepEqual(
    peer.received.map(({ fields }) => fields[39]),
    ['91'],
  )
})

test('a peer that keeps sending after an unreadable frame is disconnected', async () => {
  const peer = dial(host.port, true)
  peer.write(Buffer.from([0, 4, 0x58, 0x58, 0x58, 0x58]))
  const stopSending = issuer.clock.every(50, () => void peer.socket.write(Buffer.alloc(1_000)))
  after(stopSending)
  await peer.waitForClose(8_000)
})

test('a peer that half-closes after its last request still gets its responses', async () => {
  const peer = dial(host.port, true)
  const messages = purchases(20)
  peer.write(managementMessage('001'), ...messages)
  peer.socket.end()
  await peer.waitForClose()
  assert(peer.isEnded(), 'no reset')
  assert.equal(peer.received.filter(({ fields }) => fields[39] === '00').length, 21)
})
