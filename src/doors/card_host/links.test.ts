import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { FrameReader, writeFrame } from '#iso8583/frame.ts'
import type { Link } from '#iso8583/link.ts'
import { links } from '#iso8583/links.ts'
import { decode, encode, type Message, type OutgoingMessage } from '#iso8583/message.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { eventually } from '#test/support/eventually.ts'
import { hostSettings } from '#test/support/host_settings.ts'
import { type BareCard, insertBareCard, openIssuer, purchaseMessage } from '#test/support/issuer.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { startCardHost } from './card_host.ts'

const issuer = await openIssuer()
const settings = hostSettings()

type Peer = {
  ask(message: OutgoingMessage): Promise<Message>
  send(message: OutgoingMessage): void
  write(bytes: Uint8Array): void
  received: Message[]
  isClosed(): boolean
}

async function dial(link: Link, clock = issuer.clock): Promise<Peer> {
  const host = await startCardHost({ ...issuer.host, link, clock }, settings)
  const socket = connect({ port: host.port, host: '127.0.0.1' })
  after(async () => {
    socket.destroy()
    await host.stop()
  })
  const received: Message[] = []
  const reader = new FrameReader(link.frame)
  socket.on('data', (chunk: Buffer) =>
    reader.push(chunk, ({ body }) => received.push(decode(link, body))),
  )
  socket.on('error', () => undefined)
  const send = (message: OutgoingMessage) => {
    socket.write(writeFrame(link.frame, encode(link, message)))
  }
  return {
    received,
    send,
    write: (bytes) => void socket.write(bytes),
    isClosed: () => socket.destroyed,
    ask: async (message) => {
      const before = received.length
      send(message)
      const came = await eventually(async () => received.length > before, { within_ms: 20_000 })
      const response = received[before]
      assert(came && response !== undefined, 'a response arrives')
      return response
    },
  }
}

async function moneyOf({ id }: BareCard): Promise<Record<string, number>> {
  const rows = await issuer.db.rows<{ kind: string; cents: number }>(
    'select kind, (balance_micros / 10000)::int as cents from purse_balances where owner_id = $1',
    [id],
  )
  return Object.fromEntries(rows.map(({ kind, cents }) => [kind, cents]))
}

for (const link of Object.values(links)) {
  test(`${link.name}: sign-on, hold, repeat, capture, refund and reversal work`, async () => {
    const card = await insertBareCard(issuer, { usd: 100 })
    const peer = await dial(link)
    const management = { 7: '1115040000', 11: '000001', 70: '001' }
    const signed = await peer.ask({ mti: '0800', fields: management })
    assert.deepEqual([signed.mti, signed.fields[39]], ['0810', '00'])

    const purchase = purchaseMessage(card, 1_000)
    const approved = await peer.ask(purchase)
    assert.deepEqual([approved.mti, approved.fields[39]], ['0110', '00'])
    for (const element of [2, 3, 4, 7, 11, 32, 37, 41, 42, 49]) {
      assert.equal(approved.fields[element], purchase.fields[element], `element ${element}`)
    }
    assert.match(approved.fields[38] ?? '', /^[0-9A-Z]{6}$/)
    const again = await peer.ask({ ...purchase, mti: '0101' })
    assert.deepEqual(again.raw, approved.raw)
    assert.deepEqual(await moneyOf(card), { card: 9_000, hold: 1_000 })

    const rrn = { 37: purchase.fields[37] }
    const capture = purchaseMessage(card, 600, { mti: '0220', fields: rrn })
    assert.equal((await peer.ask(capture)).fields[39], '00')
    const refund = purchaseMessage(card, 100, { mti: '0220', fields: { ...rrn, 3: '200000' } })
    assert.equal((await peer.ask(refund)).fields[39], '00')
    const reversal = purchaseMessage(card, 1_000, { mti: '0420', fields: rrn })
    assert.deepEqual((await peer.ask(reversal)).fields[39], '00')
    assert.deepEqual(await moneyOf(card), { card: 9_500, hold: 0 })

    const poor = await peer.ask(purchaseMessage(card, 99_900))
    assert.equal(poor.fields[39], '51')
    await assertBooksSound(issuer.db)
  })

  test(`${link.name}: truncated messages are rejected and garbage closes the connection`, async () => {
    const body = encode(link, purchaseMessage({ pan: '4000000000000002', expiry: '2912' }, 100))
    const count = () => issuer.db.rows('select identity from network_messages')
    const before = (await count()).length
    for (const size of [3, 20, 60, body.length - 1]) {
      const peer = await dial(link)
      peer.write(writeFrame(link.frame, body.subarray(0, size)))
      const isRefused = async () => peer.isClosed() || peer.received[0]?.fields[39] === '30'
      assert(await eventually(isRefused, { within_ms: 20_000 }), `cut to ${size} bytes`)
    }
    const peer = await dial(link)
    peer.write(writeFrame(link.frame, Buffer.alloc(40, 0xaa)))
    assert(await eventually(async () => peer.isClosed(), { within_ms: 20_000 }))
    assert.equal((await count()).length, before)
  })
}

test('a silent peer gets an echo test after a minute and is disconnected after two', async () => {
  let ahead_ms = 0
  const real = systemClock()
  const clock = { ...real, monotonic: () => real.monotonic() + ahead_ms }
  const peer = await dial(links.ascii, clock)
  peer.send({ mti: '0800', fields: { 7: '1115040000', 11: '000001', 70: '001' } })
  assert(await eventually(async () => peer.received.length === 1, { within_ms: 10_000 }))
  ahead_ms += 59_000
  await real.sleep(100)
  assert.equal(peer.received.length, 1)
  ahead_ms += 1_500
  assert(await eventually(async () => peer.received.length === 2, { within_ms: 20_000 }))
  assert.deepEqual([peer.received[1]?.mti, peer.received[1]?.fields[70]], ['0800', '301'])
  // Its response gets no response and restarts the minute.
  const { 7: sent_at = '', 11: stan = '' } = peer.received[1]?.fields ?? {}
  peer.send({ mti: '0810', fields: { 7: sent_at, 11: stan, 39: '00', 70: '301' } })
  await real.sleep(100)
  ahead_ms += 59_000
  await real.sleep(100)
  assert.equal(peer.received.length, 2)
  ahead_ms += 61_500
  assert(await eventually(async () => peer.isClosed(), { within_ms: 20_000 }))
})
