import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { assertRefused } from '#test/support/calls.ts'
import { getCard } from '#test/support/cards.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { startReceiver } from '#test/support/receiver.ts'
import { getTransaction, openSpender } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'
import { subscribe } from '#test/support/webhooks.ts'
import { signatureOf } from './signature.ts'

const SECRET = 'a secret that is long enough to be one'
const service = await startTestService({
  env: { FLORIN_PROCESSORS: JSON.stringify({ acme: SECRET }) },
})
const { url, runtime } = service

type MessageInput = { id: string; type: string; token: string; cents: number; original_id?: string }

const bodyOf = ({ id, type, token, cents, original_id }: MessageInput) =>
  JSON.stringify({
    id,
    type,
    ...(original_id !== undefined && { original_id }),
    card: { token },
    amounts: { transaction: cents, currency: 'USD' },
    merchant: { name: 'Corner Books', mcc: '5942', country: 'US' },
  })

function post(raw: string, secret = SECRET, unix_s = Math.floor(Date.now() / 1_000)) {
  const signature = signatureOf(secret, Buffer.from(raw), unix_s)
  const headers = { 'processor-signature': signature, 'content-type': 'application/json' }
  return send(url, 'POST', '/processor/acme/authorizations', { raw, headers })
}

test('the engine decides processor messages, and a repeat gets the same bytes', async () => {
  const { key, card } = await openSpender(service, { usd: 100 })
  const body = bodyOf({ id: 'm1', type: 'authorization', token: card.id, cents: 2_500 })
  const first = await post(body)
  assert.equal(first.status, 200, first.text)
  assert.equal(first.body['decision'], 'approve')
  assert.equal((await post(body)).text, first.text)
  assert.equal((await getCard(url, key, card.id)).held_usd, 25)
  const clearing = { id: 'm2', type: 'clearing', token: card.id, cents: 2_500, original_id: 'm1' }
  assert.equal((await post(bodyOf(clearing))).body['decision'], 'approve')
  const after = await getCard(url, key, card.id)
  assert.deepEqual([after.balance_usd, after.held_usd], [75, 0])
  const tooMuch = bodyOf({ id: 'm3', type: 'authorization', token: card.id, cents: 99_900 })
  const declined = await post(tooMuch)
  assert.deepEqual(
    [declined.body['decision'], declined.body['decline_code']],
    ['decline', 'insufficient_funds'],
  )
  await assertBooksSound(runtime.db)
})

test('a message is shown with the response code that a card network would have got', async () => {
  const { key, card } = await openSpender(service, { usd: 20 })
  for (const [cents, code] of [
    [1_000, '00'],
    [9_900, '51'],
  ] as const) {
    const id = `coded ${cents}`
    const reply = await post(bodyOf({ id, type: 'authorization', token: card.id, cents }))
    const path = `/v1/transactions/${reply.body['transaction_id']}/auth`
    const shown = (await send(url, 'GET', path, { bearer: key })).body
    assert.deepEqual([shown['response_code'], shown['fields']['39']], [code, code])
  }
})

test('a token that names no card is declined, and the service goes on', async () => {
  const { card } = await openSpender(service, { usd: 100 })
  const stranger = 'card_01kc3z8e5xf8m9r4t2v6w7y8za'
  for (const [at, token] of [stranger, 'no card'].entries()) {
    const unknown = await post(bodyOf({ id: `t${at}`, type: 'authorization', token, cents: 100 }))
    assert.equal(unknown.status, 200, unknown.text)
    assert.equal(unknown.body['decline_code'], 'invalid_card')
  }
  const known = bodyOf({ id: 't2', type: 'authorization', token: card.id, cents: 100 })
  assert.equal((await post(known)).body['decision'], 'approve')
})

test('a security code is checked for a card named by its token too', async () => {
  const { key, card } = await openSpender(service, { usd: 100 })
  const shown = await send(url, 'GET', `/v1/cards/${card.id}/pan`, { bearer: key })
  const cvv = String(shown.body['cvv'])
  const wrong = cvv === '123' ? '124' : '123'
  const payWith = async (id: string, code: string) => {
    const message = bodyOf({ id, type: 'authorization', token: card.id, cents: 100 })
    const body = { ...JSON.parse(message), verification: { cvv: code } }
    return (await post(JSON.stringify(body))).body['decline_code']
  }
  assert.equal(await payWith('c1', wrong), 'cvv_mismatch')
  assert.equal(await payWith('c2', cvv), null)
})

test('the deadline includes the look-up of the card: a late message is declined and not decided', async () => {
  const { key, card } = await openSpender(service, { usd: 100 })
  let is_looked_up = false
  let locked = () => {}
  const isLocked = new Promise<void>((done) => {
    locked = done
  })
  const released = service.owner_db.transaction(async (tx) => {
    await tx.run('lock table cards in access exclusive mode')
    locked()
    await wait(2_500)
    is_looked_up = true
  })
  await isLocked
  const message = { id: 'late', type: 'authorization', token: card.id, cents: 1_000 }
  const late = await post(bodyOf(message))
  assert.equal(late.body['decline_code'], 'issuer_unavailable')
  assert(!is_looked_up, 'the response does not wait for the look-up')
  await released
  assert.equal((await post(bodyOf(message))).body['decision'], 'approve', 'a repeat is decided')
  assert.equal((await getCard(url, key, card.id)).held_usd, 10)
  const [first, ...others] = await runtime.db.rows(
    'select 1 from transactions where card_id = $1',
    [card.id],
  )
  assert(first !== undefined && others.length === 0)
})

test('only an advice can report a decline; a reversal with a decision is refused', async () => {
  const { key, card } = await openSpender(service, { usd: 100 })
  const declining = (message: MessageInput) =>
    JSON.stringify({ ...JSON.parse(bodyOf(message)), decision: 'decline' })
  const of_card = { token: card.id, cents: 1_000 }
  await post(bodyOf({ id: 'd1', type: 'authorization', ...of_card }))
  const reversal = { id: 'd2', type: 'reversal', ...of_card, original_id: 'd1' }
  assertRefused(await post(declining(reversal)), 400, 'invalid_request')
  assert.equal((await getCard(url, key, card.id)).held_usd, 10)
  await post(bodyOf(reversal))
  assert.equal((await getCard(url, key, card.id)).held_usd, 0)
  const advice = await post(declining({ id: 'd3', type: 'advice', ...of_card }))
  assert.equal(advice.body['decision'], 'approve')
})

test('a malformed message is refused with the field and what it must be', async () => {
  const good = JSON.parse(bodyOf({ id: 'n1', type: 'authorization', token: 'card_x', cents: 100 }))
  const faults: [object, string, string][] = [
    [{ type: 'capture' }, 'type', 'must be one of authorization, incremental, verification'],
    [{ amounts: { transaction: 1.5, currency: 'USD' } }, 'amounts.transaction', 'a whole number'],
    [{ amounts: { transaction: 1, currency: 'usd' } }, 'amounts.currency', 'must look like USD'],
    [{ card: {} }, 'card.token', 'is required'],
    [{ merchant: { name: 'Shop' } }, 'merchant.mcc', 'is required'],
    [{ amount: 100 }, 'amount', 'is not recognized'],
  ]
  for (const [fault, field, wanted] of faults) {
    const reply = await post(JSON.stringify({ ...good, ...fault }))
    assertRefused(reply, 400, 'invalid_request')
    const details = reply.body['details'] as { field: string; message: string }[]
    assert.equal(details[0]?.field, field)
    assert(details[0]?.message.includes(wanted), details[0]?.message)
  }
})

test('text that cannot be stored is refused', async () => {
  const { card } = await openSpender(service, { usd: 100 })
  for (const token of ['card_\u0000', '\ud800']) {
    const message = bodyOf({ id: 'x1', type: 'authorization', token, cents: 100 })
    assertRefused(await post(message), 400, 'invalid_request')
  }
  const message = bodyOf({ id: 'x\u0000', type: 'authorization', token: card.id, cents: 100 })
  assertRefused(await post(message), 400, 'invalid_request')
})

test('an unsigned, wrongly signed or old message is refused and changes nothing', async () => {
  const { key, card } = await openSpender(service, { usd: 100 })
  const body = bodyOf({ id: 'n1', type: 'authorization', token: card.id, cents: 2_500 })
  assertRefused(await post(body, 'another secret that is long enough'), 401, 'invalid_token')
  const long_ago = Math.floor(Date.now() / 1_000) - 301
  assertRefused(await post(body, SECRET, long_ago), 401, 'invalid_token')
  const bare = await send(url, 'POST', '/processor/acme/authorizations', { raw: body })
  assertRefused(bare, 401, 'invalid_token')
  assert.equal((await getCard(url, key, card.id)).held_usd, 0)
})

test('a link named like an inherited property is not found', async () => {
  for (const link of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    for (const call of ['authorizations', 'threeds']) {
      const path = `/processor/${link}/${call}`
      assertRefused(await send(url, 'POST', path, { body: {} }), 404, 'not_found')
    }
  }
})

function postChallenge(body: object) {
  const raw = JSON.stringify(body)
  const signature = signatureOf(SECRET, Buffer.from(raw), Math.floor(Date.now() / 1_000))
  const headers = { 'processor-signature': signature, 'content-type': 'application/json' }
  return send(url, 'POST', '/processor/acme/threeds', { raw, headers })
}

async function outcomeOf(challenge_id: string) {
  const signature = signatureOf(SECRET, Buffer.alloc(0), Math.floor(Date.now() / 1_000))
  const headers = { 'processor-signature': signature }
  return (await send(url, 'GET', `/processor/acme/threeds/${challenge_id}`, { headers })).body
}

const SALE = {
  amounts: { transaction: 2_500, currency: 'USD' },
  merchant: { name: 'Shop', mcc: '5942' },
}

async function resultOf({ key }: { key: string }, body: Record<string, unknown>) {
  const transaction = await getTransaction(url, key, String(body['transaction_id']))
  return transaction.three_ds?.result
}

for (const [decision, trans_status, verdict] of [
  ['approve', 'Y', 'approve'],
  ['decline', 'N', 'decline'],
] as const) {
  test(`a challenge answered with ${decision} decides the processor's payment`, async () => {
    const spender = await openSpender(service, { usd: 100 })
    const token = spender.card.id
    const receiver = await startReceiver()
    receiver.respond = (response, { event }) => {
      const { challenge_id } = event.data.object
      response.end(JSON.stringify({ challenge_id, decision }))
    }
    await subscribe(url, spender, { url: receiver.url, events: ['three_ds.challenge'] })
    const opened = await postChallenge({ card: { token }, ...SALE })
    assert.equal(opened.status, 200, opened.text)
    const id = String(opened.body['challenge_id'])
    await receiver.waitFor(1)
    const isDecided = async () => (await outcomeOf(id))['trans_status'] === trans_status
    assert(await eventually(isDecided, { within_ms: 20_000 }))

    const message = (name: string) =>
      JSON.stringify({
        id: `${name}_${id}`,
        type: 'authorization',
        card: { token },
        ...SALE,
        entry_mode: 'ecommerce',
        verification: { challenge_id: id },
      })
    const paid = await post(message('first'))
    assert.equal(paid.body['decision'], verdict)
    const declineOf = decision === 'decline' ? 'three_ds_failed' : null
    assert.equal(paid.body['decline_code'], declineOf)
    const again = await post(message('second'))
    assert.deepEqual([again.body['decision'], again.body['decline_code']], [verdict, declineOf])
    // An approval counts once: the second purchase is decided without a challenge.
    const results = await Promise.all([paid, again].map(({ body }) => resultOf(spender, body)))
    assert.deepEqual(
      results,
      decision === 'approve' ? ['approved', 'none'] : ['declined', 'declined'],
    )
  })
}

test('a challenge for an unknown card, without a USD amount, or unsigned is refused', async () => {
  const { card } = await openSpender(service, { usd: 100 })
  const stranger = { token: 'card_01kc3z8e5xf8m9r4t2v6w7y8za' }
  assertRefused(await postChallenge({ card: stranger, ...SALE }), 404, 'not_found')
  const yen = { ...SALE, amounts: { transaction: 2_500, currency: 'JPY' } }
  assertRefused(await postChallenge({ card: { token: card.id }, ...yen }), 422, 'invalid_amount')
  const bare = await send(url, 'POST', '/processor/acme/threeds', { body: { card, ...SALE } })
  assertRefused(bare, 401, 'invalid_token')
  assertRefused(await postChallenge({ card: { token: card.id } }), 400, 'invalid_request')
})
