import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NewEvent } from '#domain/context/context.ts'
import { type Envelope, eventBody } from '#domain/events/event.ts'

const envelope: Envelope = {
  id: 'evt_01kc3z8e5xf8m9r4t2v6w7y8za',
  account_id: 'acct_01kc3z8e5xf8m9r4t2v6w7y8za',
  sequence: 1,
  created_at: new Date('2026-11-15T09:30:00.000Z'),
  livemode: false,
  request: { id: 'req_01kc3z8e5xf8m9r4t2v6w7y8za', idempotency_key: 'k'.repeat(255) },
}

const bodyWith = (object: object) => {
  const event: NewEvent = {
    type: 'card.loaded',
    message: '$25.50 loaded.',
    resource: { type: 'card', id: 'card_1' },
    object,
  }
  return eventBody(event, envelope)
}

const objectIn = (body: string) => JSON.parse(body).data.object as Record<string, unknown>

/** The largest metadata that a call accepts, of this character. */
const fullMetadata = (character: string) =>
  Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [
      `${character.repeat(38)}${10 + at}`,
      character.repeat(500),
    ]),
  )

test('the body of an event is at most 20 KB, however long the metadata and rules are', () => {
  const rules = {
    mcc: { allow: Array(200).fill('5811-5814'), deny: Array(200).fill('7995-7999') },
    geo: { allow: Array(200).fill('US'), deny: Array(200).fill('KP') },
  }
  for (const character of ['a', 'é', '€', '"', '\u0001']) {
    const card = { id: 'card_1', name: 'Ads', ...rules, metadata: fullMetadata(character) }
    const body = bodyWith(card)
    assert(Buffer.byteLength(body) <= 20_000, `${Buffer.byteLength(body)} bytes`)
    const { metadata, ...rest } = objectIn(body)
    assert.deepEqual(Object.keys(metadata as object), Object.keys(card.metadata))
    assert.deepEqual(rest, { id: 'card_1', name: 'Ads', ...rules })
  }
})

test('file names and notes of evidence are truncated too', () => {
  const evidence = Array.from({ length: 20 }, () => ({
    id: 'evd_01kc3z8e5xf8m9r4t2v6w7y8za',
    dispute_id: 'dsp_01kc3z8e5xf8m9r4t2v6w7y8za',
    file_name: '€'.repeat(255),
    note: '€'.repeat(10_000),
    sha256: 'a'.repeat(64),
  }))
  const body = bodyWith({ explanation: '€'.repeat(5_000), evidence })
  assert(Buffer.byteLength(body) <= 20_000, `${Buffer.byteLength(body)} bytes`)
  const [first] = objectIn(body)['evidence'] as typeof evidence
  assert.equal(first?.sha256, 'a'.repeat(64))
})

test('a body that fits is not changed, up to the last byte', () => {
  const around = Buffer.byteLength(bodyWith({ note: '' }))
  const note = 'a'.repeat(20_000 - around)
  assert.deepEqual(objectIn(bodyWith({ note })), { note })
  assert.notDeepEqual(objectIn(bodyWith({ note: `${note}a` })), { note: `${note}a` })
})
