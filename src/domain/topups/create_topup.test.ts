import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Topup } from '#contract/topups.ts'
import { TronWeb } from '#test/packages/tronweb.ts'
import { assertRefused } from '#test/support/calls.ts'
import { type Reply, send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { awaitedTopup, eventTypes } from '#test/support/topups.ts'

const service = await startTestService()
const person = await openAccount(service.url)

const create = (body: object, key?: string): Promise<Reply> =>
  send(service.url, 'POST', '/v1/topups', {
    bearer: person.bearer,
    body,
    ...(key === undefined ? {} : { key }),
  })

test('returns a new address with a QR code and a payment URI, and emits topup.created', async () => {
  const reply = await create({ amount_usd: 25.5, metadata: { order: 'A-1' } })
  assert.equal(reply.status, 201, reply.text)
  const topup = reply.body as unknown as Topup
  assert.match(topup.id, /^tup_/)
  assert(TronWeb.isAddress(topup.deposit_address))
  assert.deepEqual(
    { ...topup, id: '', deposit_address: '', qr_data_uri: '', payment_uri: '', created_at: '' },
    {
      id: '',
      asset: 'USDT',
      chain: 'tron',
      deposit_address: '',
      amount_usd: 25.5,
      status: 'awaiting',
      status_reason: null,
      received_usd: 0,
      credited_usd: 0,
      payment_state: 'none',
      txid: null,
      txids: [],
      confirmations: 0,
      required_confirmations: 19,
      qr_data_uri: '',
      payment_uri: '',
      expires_at: topup.expires_at,
      completed_at: null,
      metadata: { order: 'A-1' },
      version: 1,
      created_at: '',
      updated_at: topup.created_at,
    },
  )
  assert.equal(topup.payment_uri, `tron:${topup.deposit_address}?amount=25.5`)
  const [head = '', data = ''] = (topup.qr_data_uri ?? '').split(',')
  assert.equal(head, 'data:image/png;base64')
  assert.equal(Buffer.from(data, 'base64').subarray(1, 4).toString(), 'PNG')
  assert.equal(Date.parse(topup.expires_at) - Date.parse(topup.created_at), 60 * 60_000)
  assert.deepEqual(await eventTypes(service.runtime.db, person.account_id), ['topup.created'])
})

test('never assigns an address twice, even to concurrent requests', async () => {
  const topups = await Promise.all(
    Array.from({ length: 10 }, () => awaitedTopup(service.url, person.bearer)),
  )
  assert.equal(new Set(topups.map(({ deposit_address }) => deposit_address)).size, 10)
})

test('derives the same addresses from the seed as TronWeb does', async () => {
  const phrase = 'test test test test test test test test test test test junk'
  const expected = TronWeb.fromMnemonic(phrase, "m/44'/195'/0'/0/2").address
  const { depositAddresses, accountXpubFromPhrase } = await import('#rails/chain/derive.ts')
  const { Secret } = await import('#kernel/secret.ts')
  const xpub = accountXpubFromPhrase('tron', new Secret(phrase))
  assert.equal(depositAddresses('tron', xpub).at(2).address, expected)
})

test('a retry with the same Idempotency-Key returns the same top-up', async () => {
  const [first, again] = [
    await create({ amount_usd: 7 }, 'k1'),
    await create({ amount_usd: 7 }, 'k1'),
  ]
  assert.equal(again.status, 201)
  assert.equal(again.text, first.text)
})

test('refuses amounts out of range and unsupported assets and chains', async () => {
  const cases: [object, number, string][] = [
    [{ amount_usd: -5 }, 422, 'invalid_amount'],
    [{ amount_usd: 5.001 }, 422, 'invalid_amount'],
    [{ amount_usd: 1e300 }, 422, 'amount_out_of_range'],
    [{ amount_usd: 0 }, 422, 'amount_out_of_range'],
    [{ amount_usd: 4.99 }, 422, 'amount_out_of_range'],
    [{ amount_usd: 50_000.01 }, 422, 'amount_out_of_range'],
    [{ amount_usd: 10, asset: 'DOGE' }, 422, 'unsupported_asset'],
    [{ amount_usd: 10, asset: 'usdt' }, 422, 'unsupported_asset'],
    [{ amount_usd: 10, chain: 'solana' }, 422, 'unsupported_chain'],
    [{ amount_usd: '10' }, 400, 'invalid_request'],
    [{}, 400, 'invalid_request'],
    [{ amount_usd: 10, addres: 'x' }, 400, 'invalid_request'],
  ]
  for (const [body, status, error] of cases) assertRefused(await create(body), status, error)
})

test('an unsupported asset or chain is named in details', async () => {
  for (const [field, value] of [
    ['asset', 'DOGE'],
    ['chain', 'solana'],
  ] as const) {
    const { body } = await create({ amount_usd: 10, [field]: value })
    assert.equal(body['details'][0].field, field)
  }
})

test('refuses while the kill switch of top-ups is on', async () => {
  const { db } = service.runtime
  await db.run(`update kill_switches set is_on = true where rail = 'topups'`)
  try {
    const paused = await create({ amount_usd: 10 })
    assertRefused(paused, 503, 'kill_switch_active')
    assert.equal(paused.body['message'], 'The operator has temporarily paused top-ups.')
  } finally {
    await db.run(`update kill_switches set is_on = false where rail = 'topups'`)
  }
})
