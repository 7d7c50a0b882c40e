import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import type { Engine } from '#domain/authorizations/engine.ts'
import type { OutgoingMessage } from '#iso8583/message.ts'
import { cardPeer, frameOf, managementMessage } from '#test/support/card_peer.ts'
import { eventually } from '#test/support/eventually.ts'
import { hostSettings } from '#test/support/host_settings.ts'
import { insertBareCard, openIssuer, purchaseMessage } from '#test/support/issuer.ts'
import { startCardHost } from './card_host.ts'

const issuer = await openIssuer()
const card = await insertBareCard(issuer, { usd: 5_000 })

async function startHost(engine: Engine = issuer.engine, clock = issuer.clock) {
  const host = await startCardHost({ ...issuer.host, engine, clock }, hostSettings())
  after(() => host.stop())
  return host
}

const host = await startHost()

const dial = (port = host.port) => cardPeer(connect({ port, host: '127.0.0.1' }))

test('sign-on and echo test are approved, key exchange is not supported', async () => {
  const peer = dial()
  peer.write(frameOf(managementMessage('001', '000001')))
  peer.write(frameOf(managementMessage('301', '000002')))
  peer.write(frameOf(managementMessage('161', '000003')))
  const responses = await peer.receive(3)
  assert.deepEqual(
    responses.map(({ mti, fields }) => [mti, fields[11], fields[39], fields[70]]),
    [
      ['0810', '000001', '00', '001'],
      ['0810', '000002', '00', '301'],
      ['0810', '000003', '40', '161'],
    ],
  )
})

test('requests are declined after a sign-off and decided again after a sign-on', async () => {
  const peer = dial()
  peer.write(frameOf(managementMessage('002')))
  peer.write(frameOf(purchaseMessage(card, 100)))
  assert.equal((await peer.receive(2))[1]?.fields[39], '91')
  peer.write(frameOf(managementMessage('001')))
  peer.write(frameOf(purchaseMessage(card, 100)))
  assert.equal((await peer.receive(4))[3]?.fields[39], '00')
})

test('frames are read however TCP splits or joins them, with keep-alives between', async () => {
  const peer = dial()
  const messages = Array.from({ length: 5 }, () => purchaseMessage(card, 100))
  const bytes = Buffer.concat(
    messages.flatMap((message) => [Buffer.from(frameOf(message)), Buffer.alloc(2)]),
  )
  for (let at = 0; at < bytes.length; at += 7) {
    peer.write(bytes.subarray(at, at + 7))
    if (at % 70 === 0) await new Promise((done) => setImmediate(done))
  }
  const responses = await peer.receive(5)
  const stans = new Set(messages.map(({ fields }) => fields[11]))
  assert(responses.every(({ mti, fields }) => mti === '0110' && stans.has(fields[11])))
})

test('a malformed message gets a 30 and stores nothing', async () => {
  const peer = dial()
  const count = () => issuer.db.rows<{ n: string }>('select count(*)::text as n from transactions')
  const before = await count()
  peer.write(frameOf(purchaseMessage(card, 100, { fields: { 49: undefined } })))
  peer.write(frameOf(purchaseMessage(card, 100, { fields: { 43: `${'Shop'.padEnd(38)}1x` } })))
  const responses = await peer.receive(2)
  assert.deepEqual(
    responses.map(({ mti, fields }) => [mti, fields[39]]),
    [
      ['0110', '30'],
      ['0110', '30'],
    ],
  )
  assert(!peer.isClosed())
  assert.deepEqual(await count(), before)
})

test('garbage closes only its own connection', async () => {
  const other = dial()
  for (const bytes of [
    Buffer.from([0xff, 0xff, 1, 2, 3]),
    Buffer.from([0, 4, 0x58, 0x58, 0x58, 0x58]),
    Buffer.concat([Buffer.from([0, 12]), Buffer.alloc(12, 0xaa)]),
  ]) {
    const peer = dial()
    peer.write(bytes)
    assert(await eventually(async () => peer.isClosed(), { within_ms: 20_000 }))
  }
  other.write(frameOf(managementMessage('301')))
  assert.equal((await other.receive(1))[0]?.fields[39], '00')
})

const never: Engine = {
  submit: () => new Promise(() => undefined),
  load: () => 0,
  drain: async () => undefined,
}

test('a message that is not decided before its deadline gets a 91', async () => {
  const slow = await startHost(never)
  const peer = dial(slow.port)
  const began = performance.now()
  peer.write(frameOf(purchaseMessage(card, 100)))
  const [response] = await peer.receive(1)
  assert.equal(response?.fields[39], '91')
  assert(performance.now() - began >= 1_400)
})

test('a connection with too many messages in flight is paused', async () => {
  let submitted = 0
  const counting: Engine = {
    ...never,
    submit: () => {
      submitted += 1
      return never.submit({} as never)
    },
  }
  const slow = await startHost(counting)
  const peer = dial(slow.port)
  for (let at = 0; at < 2_000; at += 1) peer.write(frameOf(purchaseMessage(card, 100)))
  assert(await eventually(async () => submitted >= 256, { within_ms: 10_000 }))
  // Everything from one read of the socket is accepted; the next read waits for the first 91s.
  const isOverfull = await eventually(async () => submitted >= 1_000, { within_ms: 1_000 })
  assert(!isOverfull, `${submitted} were taken on`)
})

test('a peer that does not read its responses delays nobody and is cut off after 30 seconds', async () => {
  let ahead_ms = 0
  const clock = { ...issuer.clock, monotonic: () => issuer.clock.monotonic() + ahead_ms }
  const patient = await startHost(issuer.engine, clock)
  const deaf = dial(patient.port)
  deaf.socket.pause()
  // After a sign-off each purchase gets a 91 that echoes elements 62 and 63, which fills buffers.
  deaf.write(managementMessage('002'))
  const text = { 62: 'x'.repeat(999), 63: 'y'.repeat(999) }
  const long = Buffer.from(frameOf(purchaseMessage(card, 1, { fields: text })))
  let written = 0
  const writeNext = () => {
    written += 1
    if (written < 50_000) deaf.socket.write(long, (fault) => fault ?? writeNext())
  }
  writeNext()
  const isStuck = async () => {
    const before = written
    await clock.sleep(1_500)
    return before === written
  }
  assert(await eventually(isStuck, { within_ms: 60_000 }))
  assert(written < 50_000, 'the host stops reading')
  const other = dial(patient.port)
  other.write(frameOf(purchaseMessage(card, 100)))
  assert.equal((await other.receive(1))[0]?.fields[39], '00')
  assert(!deaf.isClosed())
  ahead_ms += 30_000
  await deaf.waitForClose(20_000)
  assert(!other.isClosed())
})

const transactionsOf = ({ fields }: OutgoingMessage) =>
  issuer.db.rows('select id from transactions where retrieval_reference_number = $1', [fields[37]])

test('a lost connection loses no decision: a repeat elsewhere gets the first response', async () => {
  const message = purchaseMessage(card, 300)
  const cut = dial()
  cut.write(frameOf(message))
  const isDecided = async () => (await transactionsOf(message)).length === 1
  assert(await eventually(isDecided, { within_ms: 10_000 }))
  cut.socket.destroy()
  const peer = dial()
  const again = { ...message, mti: '0101' }
  peer.write(frameOf(again))
  peer.write(frameOf(message))
  const [first, second] = await peer.receive(2)
  assert.equal(first?.fields[39], '00')
  assert.deepEqual(first?.raw, second?.raw)
  assert.equal((await transactionsOf(message)).length, 1)
})

test('a stopping host responds to the messages in flight first', async () => {
  let received = 0
  let decide = () => {}
  const decided = new Promise<void>((resolve) => {
    decide = resolve
  })
  const waiting: Engine = {
    ...issuer.engine,
    submit: async (request) => {
      received += 1
      await decided
      return issuer.engine.submit(request)
    },
  }
  const stopping = await startHost(waiting)
  const peer = dial(stopping.port)
  for (let at = 0; at < 20; at += 1) peer.write(frameOf(purchaseMessage(card, 1)))
  assert(await eventually(async () => received === 20, { within_ms: 10_000 }))
  const stopped = stopping.stop()
  decide()
  await stopped
  assert.equal(peer.received.filter(({ fields }) => fields[39] === '00').length, 20)
  assert(await eventually(async () => peer.isClosed(), { within_ms: 20_000 }))
})
