import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { AuditEntry } from '#contract/activity.ts'
import { isPan } from '#iso8583/pan.ts'
import { advance, assertRefused, auditLog } from '#test/support/calls.ts'
import {
  assertForeignLikeMissing,
  callCard,
  cardIn,
  type Holder,
  issueCard,
  openHolder,
} from '#test/support/cards.ts'
import { type Reply, send } from '#test/support/http.ts'
import { recordingLog, wholeDatabase } from '#test/support/leaks.ts'
import { startTestService } from '#test/support/start.ts'
import { isCvvOf, panHash } from './pan_vault.ts'

const kept = recordingLog()
/** The failpoint that throws once. */
let fail_at: string | null = null
const fail = (point: string) => {
  if (point !== fail_at) return
  fail_at = null
  throw new Error(`failed at ${point}`)
}
const service = await startTestService({ dependencies: { log: kept.log, fail } })
const { url, runtime } = service

const reveal = (bearer: string, id: string, nonce?: string): Promise<Reply> =>
  send(url, 'GET', `/v1/cards/${id}/pan`, {
    bearer,
    ...(nonce !== undefined && { headers: { 'Reveal-Nonce': nonce } }),
  })

const revealsIn = async ({ bearer }: Holder): Promise<AuditEntry[]> =>
  auditLog(url, bearer, '&action=card.pan_revealed,card.pan_reveal_denied')

const resultsIn = async (holder: Holder): Promise<string[]> =>
  (await revealsIn(holder)).map(({ action, result }) => `${action.split('.')[1]} ${result}`)

test('the number, CVV and expiry are shown once, with an audit entry', async () => {
  const holder = await openHolder(service)
  const card = await issueCard(url, holder.key)
  const { status, body, headers } = await reveal(holder.key, card.id)
  assert.equal(status, 200)
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.ok(isPan(body.pan))
  assert.equal(body.pan.length, 16)
  assert.deepEqual([body.pan.slice(0, 6), body.pan.slice(-4)], [card.bin, card.last4])
  assert.match(body.cvv, /^\d{3}$/)
  const { keys } = runtime
  assert.ok(isCvvOf(keys, card, { pan: body.pan, cvv: body.cvv }))
  assert.equal(isCvvOf(keys, card, { pan: body.pan, cvv: '' }), false)
  assert.deepEqual(
    [body.card_id, body.exp_month, body.exp_year],
    [card.id, card.exp_month, card.exp_year],
  )
  const month = String(card.exp_month).padStart(2, '0')
  assert.equal(body.expiry, `${month}/${String(card.exp_year).slice(2)}`)
  const [entry, ...others] = await revealsIn(holder)
  assert.deepEqual(others, [])
  assert.equal(entry?.id, body.reveal_id)
  assert.equal(entry?.actor.type, 'api_key')
  assert.equal(entry?.operation, 'reveal_pan')
  assert.deepEqual(entry?.resource, { type: 'card', id: card.id })

  const again = await reveal(holder.key, card.id)
  assertRefused(again, 409, 'reveal_already_used')
  assert.equal(again.headers.get('cache-control'), 'no-store')
  assert.deepEqual(await resultsIn(holder), ['pan_revealed success', 'pan_reveal_denied denied'])
})

test('a new nonce reveals the number again; a used or malformed one is refused', async () => {
  const holder = await openHolder(service)
  const card = await issueCard(url, holder.key)
  const first = await reveal(holder.key, card.id)
  const nonce = randomUUID()
  const second = await reveal(holder.key, card.id, nonce)
  assert.equal(second.status, 200)
  assert.deepEqual([second.body.pan, second.body.cvv], [first.body.pan, first.body.cvv])
  assert.notEqual(second.body.reveal_id, first.body.reveal_id)
  assertRefused(await reveal(holder.key, card.id, nonce), 409, 'reveal_already_used')
  const upper = nonce.toUpperCase()
  assertRefused(await reveal(holder.key, card.id, upper), 409, 'reveal_already_used')
  assertRefused(await reveal(holder.key, card.id, 'again'), 400, 'invalid_request')
  assert.deepEqual(await resultsIn(holder), [
    'pan_revealed success',
    'pan_revealed success',
    'pan_reveal_denied denied',
    'pan_reveal_denied denied',
    'pan_reveal_denied denied',
  ])
})

test('a nonce on the first reveal is used up by it', async () => {
  const { key } = await openHolder(service)
  const card = await issueCard(url, key)
  const nonce = randomUUID()
  assert.equal((await reveal(key, card.id, nonce)).status, 200)
  assertRefused(await reveal(key, card.id, nonce), 409, 'reveal_already_used')
})

test('a nonce reveals one card of the account once, also at the same time', async () => {
  const { key } = await openHolder(service)
  const cards = [await issueCard(url, key), await issueCard(url, key)]
  const nonce = randomUUID()
  const replies = await Promise.all(cards.map(({ id }) => reveal(key, id, nonce)))
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409])
  for (const { id } of cards) {
    assertRefused(await reveal(key, id, nonce), 409, 'reveal_already_used')
  }
  const stranger = await openHolder(service)
  const { id } = await issueCard(url, stranger.key)
  assert.equal((await reveal(stranger.key, id, nonce)).status, 200)
})

test('the sixth reveal in an hour is refused with a Retry-After', async () => {
  const { key, bearer } = await openHolder(service)
  const card = await issueCard(url, key)
  for (let at = 0; at < 5; at += 1) {
    assert.equal((await reveal(key, card.id, randomUUID())).status, 200)
  }
  const refused_nonce = randomUUID()
  const sixth = await reveal(key, card.id, refused_nonce)
  assertRefused(sixth, 429, 'reveal_limit_exceeded')
  const wait_s = Number(sixth.headers.get('retry-after'))
  assert.ok(wait_s > 3_500 && wait_s <= 3_600, `${wait_s}`)
  await advance(url, bearer, wait_s)
  assert.equal((await reveal(key, card.id, refused_nonce)).status, 200)
})

test('a frozen card can be revealed, a cancelled one cannot', async () => {
  const { key } = await openHolder(service)
  const frozen = await cardIn(url, key, { status: 'frozen' })
  assert.equal((await reveal(key, frozen.id)).status, 200)
  const cancelled = await cardIn(url, key, { status: 'cancelled' })
  assertRefused(await reveal(key, cancelled.id), 409, 'card_cancelled')
})

test('a session cannot reveal, HEAD is not allowed, and the attempt is audited', async () => {
  const holder = await openHolder(service)
  const card = await issueCard(url, holder.key)
  assertRefused(await reveal(holder.bearer, card.id), 403, 'credential_not_allowed')
  const [entry] = await revealsIn(holder)
  assert.deepEqual(
    [entry?.action, entry?.result, entry?.actor.type, entry?.resource?.id],
    ['card.pan_reveal_denied', 'denied', 'session', card.id],
  )
  const headers = { authorization: `Bearer ${holder.key}` }
  const head = await fetch(`${url}/v1/cards/${card.id}/pan`, { method: 'HEAD', headers })
  assert.equal(head.status, 405)
  assert.equal((await reveal(holder.key, card.id)).status, 200)
})

test("another account's card is not found, and the attempt is in the caller's audit log", async () => {
  await assertForeignLikeMissing(service, (bearer, id) => reveal(bearer, id))
  const owner = await openHolder(service)
  const stranger = await openHolder(service)
  const card = await issueCard(url, owner.key)
  await reveal(stranger.key, card.id)
  await reveal(stranger.key, 'x'.repeat(300))
  const entries = await revealsIn(stranger)
  assert.deepEqual(
    entries.map(({ result, resource }) => [result, resource?.id ?? null]),
    [
      ['denied', card.id],
      ['denied', null],
    ],
  )
  assert.deepEqual(await revealsIn(owner), [])
})

test('of 20 concurrent reveals one succeeds, with nonces five; all are audited', async () => {
  const holder = await openHolder(service)
  const once = await issueCard(url, holder.key)
  const replies = await Promise.all(Array.from({ length: 20 }, () => reveal(holder.key, once.id)))
  assert.equal(replies.filter(({ status }) => status === 200).length, 1)
  for (const reply of replies.filter(({ status }) => status !== 200)) {
    assertRefused(reply, 409, 'reveal_already_used')
  }
  const card = await issueCard(url, holder.key)
  const others = await Promise.all(
    Array.from({ length: 20 }, () => reveal(holder.key, card.id, randomUUID())),
  )
  assert.equal(others.filter(({ status }) => status === 200).length, 5)
  for (const reply of others.filter(({ status }) => status !== 200)) {
    assertRefused(reply, 429, 'reveal_limit_exceeded')
  }
  const results = await resultsIn(holder)
  assert.equal(results.length, 40)
  assert.equal(results.filter((result) => result === 'pan_revealed success').length, 6)
})

test('an exception after the audit entry uses up the reveal, one before it does not', async () => {
  const holder = await openHolder(service)
  const card = await issueCard(url, holder.key)
  await reveal(holder.key, 'card_warm')
  // Background tasks commit too and would hit the failpoint first.
  await service.tasks.stop()
  fail_at = 'before_commit'
  assertRefused(await reveal(holder.key, card.id), 500, 'internal_error')
  assert.deepEqual(await resultsIn(holder), ['pan_reveal_denied denied'])
  fail_at = 'before_reply'
  assertRefused(await reveal(holder.key, card.id), 500, 'internal_error')
  assert.deepEqual(await resultsIn(holder), ['pan_reveal_denied denied', 'pan_revealed success'])
  assertRefused(await reveal(holder.key, card.id), 409, 'reveal_already_used')
  assert.equal((await reveal(holder.key, card.id, randomUUID())).status, 200)
})

test('the number and CVV are in no table, log, event, audit entry or stored response', async () => {
  const holder = await openHolder(service)
  const card = await issueCard(url, holder.key)
  const path = `/v1/cards/${card.id}/pan`
  const { body } = await send(url, 'GET', path, { bearer: holder.key, key: 'kept' })
  const repeat = await send(url, 'GET', path, { bearer: holder.key, key: 'kept' })
  assertRefused(repeat, 409, 'reveal_already_used')
  for (const verb of ['freeze', 'unfreeze', 'replace']) {
    await callCard(url, { id: card.id, verb }, { bearer: holder.key, key: verb })
  }
  const everything = `${await wholeDatabase(runtime.db)}\n${kept.text()}`
  assert.ok(everything.includes(panHash(runtime.keys, body.pan)))
  for (const trace of [body.pan, body.pan.slice(0, -4), body.pan.slice(6)]) {
    assert.equal(everything.includes(trace), false)
  }
  // At the start of a word: a random ID may end with these letters, before a date.
  const found = /.{0,40}\bcv[vc]2?\W{1,5}\d{3}.{0,40}/i.exec(everything)
  assert.equal(found?.[0], undefined)
  const base64 = Buffer.from(body.pan).toString('base64').replace(/=+$/, '')
  assert.equal(everything.includes(base64), false)
})
