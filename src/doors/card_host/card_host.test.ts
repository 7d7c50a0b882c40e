import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import type { Engine } from '#domain/authorizations/engine.ts'
import { FrameReader, writeFrame } from '#iso8583/frame.ts'
import { default_link } from '#iso8583/links.ts'
import { decode, encode, type Message, type OutgoingMessage } from '#iso8583/message.ts'
import { eventually } from '#test/support/eventually.ts'
import { hostSettings } from '#test/support/host_settings.ts'
import { insertBareCard, openIssuer, purchaseMessage } from '#test/support/issuer.ts'
import { startCardHost } from './card_host.ts'

const issuer = await openIssuer()
const card = await insertBareCard(issuer, { usd: 5_000 })

async function startHost(engine: Engine = issuer.engine) {
  const host = await startCardHost({ ...issuer.host, engine }, hostSettings())
  after(() => host.stop())
  return host
}

const host = await startHost()

type Peer = {
  socket: Socket
  heard: Message[]
  isClosed(): boolean
  write(bytes: Uint8Array): void
  hears(count: number, within_ms?: number): Promise<Message[]>
}

function peerOver(socket: Socket): Peer {
  const heard: Message[] = []
  const reader = new FrameReader(default_link.frame)
  let closed = false
  socket.on('data', (chunk: Buffer) =>
    reader.push(chunk, ({ body }) => heard.push(decode(default_link, body))),
  )
  socket.on('close', () => {
    closed = true
  })
  socket.on('error', () => undefined)
  after(() => socket.destroy())
  return {
    socket,
    heard,
    isClosed: () => closed,
    write: (bytes) => void socket.write(bytes),
    hears: async (count, within_ms = 5_000) => {
      const came = await eventually(async () => heard.length >= count, { within_ms })
      assert(came, `${count} answers were expected and ${heard.length} came`)
      return heard
    },
  }
}

const dial = (port = host.port) => peerOver(connect({ port, host: '127.0.0.1' }))
const frame = (message: OutgoingMessage) =>
  writeFrame(default_link.frame, encode(default_link, message))
const management = (code: string, stan = '000001'): OutgoingMessage => ({
  mti: '0800',
  fields: { 7: '1115040000', 11: stan, 70: code },
})

test('signs on, echoes, and refuses an exchange of keys', async () => {
  const peer = dial()
  peer.write(frame(management('001', '000001')))
  peer.write(frame(management('301', '000002')))
  peer.write(frame(management('161', '000003')))
  const answers = await peer.hears(3)
  assert.deepEqual(
    answers.map(({ mti, fields }) => [mti, fields[11], fields[39], fields[70]]),
    [
      ['0810', '000001', '00', '001'],
      ['0810', '000002', '00', '301'],
      ['0810', '000003', '40', '161'],
    ],
  )
})

test('after sign-off questions are declined, and after sign-on they are heard again', async () => {
  const peer = dial()
  peer.write(frame(management('002')))
  peer.write(frame(purchaseMessage(card, 100)))
  assert.equal((await peer.hears(2))[1]?.fields[39], '91')
  peer.write(frame(management('001')))
  peer.write(frame(purchaseMessage(card, 100)))
  assert.equal((await peer.hears(4))[3]?.fields[39], '00')
})

test('frames arrive whole however the stream is cut or joined, keep-alives among them', async () => {
  const peer = dial()
  const messages = Array.from({ length: 5 }, () => purchaseMessage(card, 100))
  const bytes = Buffer.concat(
    messages.flatMap((message) => [Buffer.from(frame(message)), Buffer.alloc(2)]),
  )
  for (let at = 0; at < bytes.length; at += 7) {
    peer.write(bytes.subarray(at, at + 7))
    if (at % 70 === 0) await new Promise((done) => setImmediate(done))
  }
  const answers = await peer.hears(5)
  const stans = new Set(messages.map(({ fields }) => fields[11]))
  assert(answers.every(({ mti, fields }) => mti === '0110' && stans.has(fields[11])))
})

test('a message that is not whole is answered 30 where it can be, and records nothing', async () => {
  const peer = dial()
  const count = () => issuer.db.rows<{ n: string }>('select count(*)::text as n from transactions')
  const before = await count()
  peer.write(frame(purchaseMessage(card, 100, { fields: { 49: undefined } })))
  peer.write(frame(purchaseMessage(card, 100, { fields: { 43: `${'Shop'.padEnd(38)}1x` } })))
  const answers = await peer.hears(2)
  assert.deepEqual(
    answers.map(({ mti, fields }) => [mti, fields[39]]),
    [
      ['0110', '30'],
      ['0110', '30'],
    ],
  )
  assert(!peer.isClosed())
  assert.deepEqual(await count(), before)
})

test('garbage closes its own link and no other', async () => {
  const other = dial()
  for (const bytes of [
    Buffer.from([0xff, 0xff, 1, 2, 3]),
    Buffer.from([0, 4, 0x58, 0x58, 0x58, 0x58]),
    Buffer.concat([Buffer.from([0, 12]), Buffer.alloc(12, 0xaa)]),
  ]) {
    const peer = dial()
    peer.write(bytes)
    assert(await eventually(async () => peer.isClosed(), { within_ms: 3_000 }))
  }
  other.write(frame(management('301')))
  assert.equal((await other.hears(1))[0]?.fields[39], '00')
})

const never: Engine = {
  submit: () => new Promise(() => undefined),
  load: () => 0,
  drain: async () => undefined,
}

test('what is not decided within its deadline is answered 91', async () => {
  const slow = await startHost(never)
  const peer = dial(slow.port)
  const began = performance.now()
  peer.write(frame(purchaseMessage(card, 100)))
  const [answer] = await peer.hears(1)
  assert.equal(answer?.fields[39], '91')
  assert(performance.now() - began >= 1_400)
})

test('a peer with too much under way is not read further until some of it is answered', async () => {
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
  for (let at = 0; at < 2_000; at += 1) peer.write(frame(purchaseMessage(card, 100)))
  await eventually(async () => submitted >= 256, { within_ms: 1_000 })
  // What one read of the socket brought is still taken; the next read waits.
  assert(submitted < 1_000, `${submitted} were taken on`)
})

test('a peer that does not read its answers holds up nobody else', async () => {
  const deaf = dial()
  deaf.socket.pause()
  for (let at = 0; at < 500; at += 1) deaf.write(frame(purchaseMessage(card, 1)))
  const other = dial()
  other.write(frame(purchaseMessage(card, 100)))
  assert.equal((await other.hears(1))[0]?.fields[39], '00')
})

test('a cut line loses no decision: the repeat on another line gets the first answer', async () => {
  const message = purchaseMessage(card, 300)
  const cut = dial()
  cut.write(frame(message))
  await eventually(async () => issuer.engine.load() > 0, { within_ms: 200 })
  cut.socket.destroy()
  const peer = dial()
  const again = { ...message, mti: '0101' }
  peer.write(frame(again))
  peer.write(frame(message))
  const [first, second] = await peer.hears(2)
  assert.equal(first?.fields[39], '00')
  assert.deepEqual(first?.raw, second?.raw)
  const rows = await issuer.db.rows(
    'select id from transactions where retrieval_reference_number = $1',
    [message.fields[37]],
  )
  assert.equal(rows.length, 1)
})

test('when the host stops, what was asked is answered first', async () => {
  const stopping = await startHost()
  const peer = dial(stopping.port)
  for (let at = 0; at < 20; at += 1) peer.write(frame(purchaseMessage(card, 1)))
  await eventually(async () => issuer.engine.load() > 0, { within_ms: 500 })
  await stopping.stop()
  assert.equal(peer.heard.filter(({ fields }) => fields[39] === '00').length, 20)
  assert(await eventually(async () => peer.isClosed(), { within_ms: 2_000 }))
})
