import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { cvvOf } from '#domain/cards/pan_vault.ts'
import { FrameReader, writeFrame } from '#iso8583/frame.ts'
import { default_link } from '#iso8583/links.ts'
import { decode, encode, type Message, type OutgoingMessage } from '#iso8583/message.ts'
import { writePrivateTags } from '#iso8583/tags.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { eventually } from '#test/support/eventually.ts'
import { hostSettings } from '#test/support/host_settings.ts'
import {
  type BareCard,
  type Issuer,
  insertBareCard,
  openIssuer,
  purchaseMessage,
} from '#test/support/issuer.ts'
import { startCardHost } from './card_host.ts'

let now = new Date('2031-03-10T12:00:00.000Z')
const clock = { ...systemClock(), now: () => now }
const issuer = await openIssuer({ clock })
const second = await openIssuer({ clock, database_url: issuer.url, data_dir: issuer.data_dir })

/** Connects and returns a function that sends messages and returns their responses in order. */
async function dial({ host }: Issuer) {
  const started = await startCardHost(host, hostSettings())
  const socket = connect({ port: started.port, host: '127.0.0.1' })
  const received = new Map<string, Message>()
  const reader = new FrameReader(default_link.frame)
  socket.on('data', (chunk: Buffer) =>
    reader.push(chunk, ({ body }) => {
      const response = decode(default_link, body)
      received.set(response.fields[11] ?? '', response)
    }),
  )
  after(async () => {
    socket.destroy()
    await started.stop()
  })
  const signOn = { mti: '0800', fields: { 7: '0310120000', 11: '999999', 70: '001' } }
  socket.write(writeFrame(default_link.frame, encode(default_link, signOn)))
  return async (messages: readonly OutgoingMessage[]): Promise<(Message | undefined)[]> => {
    const frames = messages.map((message) =>
      writeFrame(default_link.frame, encode(default_link, message)),
    )
    socket.write(Buffer.concat(frames))
    const stans = messages.map(({ fields }) => fields[11] ?? '')
    const hasAll = async () => stans.every((stan) => received.has(stan))
    assert(await eventually(hasAll, { within_ms: 10_000 }))
    return stans.map((stan) => received.get(stan))
  }
}

const sendToFirst = await dial(issuer)
const sendToSecond = await dial(second)

type Mode = { 22: string; 25: string }
/** The entry modes that do not need the card: keyed (also in a shop), online, on file. */
const GUESSABLE: readonly Mode[] = [
  { 22: '010', 25: '00' },
  { 22: '010', 25: '08' },
  { 22: '010', 25: '59' },
  { 22: '810', 25: '59' },
  { 22: '100', 25: '08' },
  { 22: '000', 25: '00' },
]
const CHIP: Mode = { 22: '051', 25: '00' }

const codes = (card: BareCard) => {
  const year = 2000 + Number(card.expiry.slice(0, 2))
  const printed = { brand: 'visa', exp_month: 12, exp_year: year } as const
  const right = cvvOf(issuer.dependencies.keys, printed, card.pan).open()
  return { right, wrong: right === '000' ? '001' : '000' }
}

function guess(card: BareCard, code: string | null, mode: Mode, cents = 100): OutgoingMessage {
  const tags = code === null ? undefined : writePrivateTags([{ tag: '92', value: code }])
  return purchaseMessage(card, cents, { now, fields: { ...mode, 48: tags } })
}

const codesOf = (response: Message | undefined) => [response?.fields[39], response?.fields[44]]

for (const mode of GUESSABLE) {
  const name = `DE 22 = ${mode[22]}, DE 25 = ${mode[25]}`
  test(`after five wrong CVVs no response depends on the CVV (${name})`, async () => {
    const card = await insertBareCard(issuer, { usd: 100 })
    const { right, wrong } = codes(card)
    const [before] = await sendToFirst([guess(card, right, mode)])
    assert.deepEqual(codesOf(before), ['00', 'M'])
    for (let attempt = 0; attempt < 5; attempt += 1) {
      assert.equal((await sendToFirst([guess(card, wrong, mode)]))[0]?.fields[44], 'N')
    }
    for (const other of GUESSABLE) {
      const responses = await sendToFirst([
        guess(card, right, other),
        guess(card, wrong, other),
        guess(card, right, other, 0),
        guess(card, wrong, other, 0),
      ])
      assert.deepEqual(responses.map(codesOf), Array(4).fill(['59', 'P']))
    }
  })
}

test('chip payments still work after five wrong CVVs, and their CVV is not checked', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const { right, wrong } = codes(card)
  const wrongs = Array.from({ length: 5 }, () => guess(card, wrong, GUESSABLE[0] as Mode))
  await sendToFirst(wrongs)
  const responses = await sendToFirst([
    guess(card, null, CHIP),
    guess(card, right, CHIP),
    guess(card, wrong, CHIP),
  ])
  assert.deepEqual(responses.map(codesOf), [
    ['00', undefined],
    ['00', 'P'],
    ['00', 'P'],
  ])
})

test('wrong CVVs of chip payments count as attempts too', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const { right, wrong } = codes(card)
  const responses = await sendToFirst(Array.from({ length: 8 }, () => guess(card, wrong, CHIP)))
  assert.equal(responses.filter((response) => response?.fields[44] === 'N').length, 5)
  assert.deepEqual(codesOf((await sendToFirst([guess(card, right, GUESSABLE[0] as Mode)]))[0]), [
    '59',
    'P',
  ])
})

test('a burst of guesses on two nodes gets only five CVV results', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const { right } = codes(card)
  const guesses = Array.from({ length: 200 }, (_, at) => String(at).padStart(3, '0'))
    .filter((code) => code !== right)
    .map((code, at) => guess(card, code, GUESSABLE[at % GUESSABLE.length] as Mode, (at % 2) * 100))
  const half = Math.floor(guesses.length / 2)
  const responses = await Promise.all([
    sendToFirst(guesses.slice(0, half)),
    sendToSecond(guesses.slice(half)),
  ])
  const results = responses.flat().map((response) => response?.fields[44])
  assert.equal(results.filter((result) => result === 'N').length, 5)
  assert.equal(results.filter((result) => result === 'P').length, guesses.length - 5)
})

test('a wrong expiry is not revealed either, and checks resume a day later', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const { right, wrong } = codes(card)
  const online = GUESSABLE[3] as Mode
  await sendToFirst(Array.from({ length: 5 }, () => guess(card, wrong, online)))
  const expired = { ...card, expiry: '3201' }
  assert.deepEqual(codesOf((await sendToFirst([guess(expired, right, online)]))[0]), ['59', 'P'])
  now = new Date(now.getTime() + 24 * 3_600_000)
  assert.deepEqual(codesOf((await sendToFirst([guess(card, right, online)]))[0]), ['00', 'M'])
})

test('a declined changed repeat does not reveal its CVV result', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const { right, wrong } = codes(card)
  const first = guess(card, right, GUESSABLE[3] as Mode)
  await sendToFirst([first])
  const { 48: tags } = guess(card, wrong, GUESSABLE[3] as Mode).fields
  const changed = { ...first, fields: { ...first.fields, 4: '000000000200', 48: tags ?? '' } }
  const response = await issuer.ask(changed)
  assert.deepEqual(codesOf(response), ['94', 'P'])
})
