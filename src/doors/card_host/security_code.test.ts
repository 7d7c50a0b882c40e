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

/** A peer on a socket of its own: frames out, and every answer in the order of the questions. */
async function dial({ host }: Issuer) {
  const started = await startCardHost(host, hostSettings())
  const socket = connect({ port: started.port, host: '127.0.0.1' })
  const heard = new Map<string, Message>()
  const reader = new FrameReader(default_link.frame)
  socket.on('data', (chunk: Buffer) =>
    reader.push(chunk, ({ body }) => {
      const answer = decode(default_link, body)
      heard.set(answer.fields[11] ?? '', answer)
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
    await eventually(async () => stans.every((stan) => heard.has(stan)), { within_ms: 10_000 })
    return stans.map((stan) => heard.get(stan))
  }
}

const askFirst = await dial(issuer)
const askSecond = await dial(second)

type Mode = { 22: string; 25: string }
/** Every way to enter a card without the card: keyed (also at a counter), online, on file. */
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

const said = (answer: Message | undefined) => [answer?.fields[39], answer?.fields[44]]

for (const mode of GUESSABLE) {
  const name = `DE 22 = ${mode[22]}, DE 25 = ${mode[25]}`
  test(`after five wrong codes no answer depends on the code (${name})`, async () => {
    const card = await insertBareCard(issuer, { usd: 100 })
    const { right, wrong } = codes(card)
    const [before] = await askFirst([guess(card, right, mode)])
    assert.deepEqual(said(before), ['00', 'M'])
    for (let attempt = 0; attempt < 5; attempt += 1) {
      assert.equal((await askFirst([guess(card, wrong, mode)]))[0]?.fields[44], 'N')
    }
    for (const other of GUESSABLE) {
      const answers = await askFirst([
        guess(card, right, other),
        guess(card, wrong, other),
        guess(card, right, other, 0),
        guess(card, wrong, other, 0),
      ])
      assert.deepEqual(answers.map(said), Array(4).fill(['59', 'P']))
    }
  })
}

test('chip payments go on after five wrong codes, and their code is not looked at', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const { right, wrong } = codes(card)
  const wrongs = Array.from({ length: 5 }, () => guess(card, wrong, GUESSABLE[0] as Mode))
  await askFirst(wrongs)
  const answers = await askFirst([
    guess(card, null, CHIP),
    guess(card, right, CHIP),
    guess(card, wrong, CHIP),
  ])
  assert.deepEqual(answers.map(said), [
    ['00', undefined],
    ['00', 'P'],
    ['00', 'P'],
  ])
})

test('wrong codes with a chip use the attempts up too', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const { right, wrong } = codes(card)
  const answers = await askFirst(Array.from({ length: 8 }, () => guess(card, wrong, CHIP)))
  assert.equal(answers.filter((answer) => answer?.fields[44] === 'N').length, 5)
  assert.deepEqual(said((await askFirst([guess(card, right, GUESSABLE[0] as Mode)]))[0]), [
    '59',
    'P',
  ])
})

test('a burst of guesses on two nodes is told about five codes and no more', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const { right } = codes(card)
  const guesses = Array.from({ length: 200 }, (_, at) => String(at).padStart(3, '0'))
    .filter((code) => code !== right)
    .map((code, at) => guess(card, code, GUESSABLE[at % GUESSABLE.length] as Mode, (at % 2) * 100))
  const half = Math.floor(guesses.length / 2)
  const answers = await Promise.all([
    askFirst(guesses.slice(0, half)),
    askSecond(guesses.slice(half)),
  ])
  const results = answers.flat().map((answer) => answer?.fields[44])
  assert.equal(results.filter((result) => result === 'N').length, 5)
  assert.equal(results.filter((result) => result === 'P').length, guesses.length - 5)
})

test('the wrong expiry date is not told any more either, and a day later all is looked at again', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const { right, wrong } = codes(card)
  const online = GUESSABLE[3] as Mode
  await askFirst(Array.from({ length: 5 }, () => guess(card, wrong, online)))
  const expired = { ...card, expiry: '3201' }
  assert.deepEqual(said((await askFirst([guess(expired, right, online)]))[0]), ['59', 'P'])
  now = new Date(now.getTime() + 24 * 3_600_000)
  assert.deepEqual(said((await askFirst([guess(card, right, online)]))[0]), ['00', 'M'])
})

test('a message that is only refused as a changed repeat says nothing of its code', async () => {
  const card = await insertBareCard(issuer, { usd: 100 })
  const { right, wrong } = codes(card)
  const first = guess(card, right, GUESSABLE[3] as Mode)
  await askFirst([first])
  const { 48: tags } = guess(card, wrong, GUESSABLE[3] as Mode).fields
  const changed = { ...first, fields: { ...first.fields, 4: '000000000200', 48: tags ?? '' } }
  const answer = await issuer.ask(changed)
  assert.deepEqual(said(answer), ['94', 'P'])
})
