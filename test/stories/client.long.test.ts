import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, FlorinError, verifyWebhook } from '#client/client.ts'
import { verifyAudit } from '#main/audit.ts'
import { openBuyer } from '#test/support/disputes.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { startReceiver } from '#test/support/receiver.ts'
import { authorize, follow } from '#test/support/spending.ts'
import { startTestService } from '#test/support/start.ts'
import { onChain } from '#test/support/topups.ts'

const service = await startTestService()
const { url, runtime } = service
const anyone = createClient({ url })

test('the client opens an account, uses a key and reads its actions in the audit log', async () => {
  const opening = { email: 'Grace@Example.com', password: 'correct horse battery staple' }
  const opened = await anyone.create_account(opening)
  const session = createClient({ url, bearer: opened.bearer ?? undefined })
  const account = await session.get_account()
  assert.deepEqual([account.email, account.id], ['grace@example.com', opened.id])

  const made = await session.create_api_key({ name: 'first steps' })
  const florin = createClient({ url, bearer: made.key ?? undefined })
  const changed = await florin.update_account({
    notifications: { transaction_authorized: true, low_balance_threshold_usd: 12.34 },
  })
  assert.deepEqual([changed.version, changed.notifications.low_balance_threshold_usd], [2, 12.34])
  assert.equal((await florin.get_limits()).credential.type, 'api_key')

  assert.equal(await session.revoke_api_key({ id: made.id }), undefined)
  await assert.rejects(florin.get_account(), { code: 'token_revoked', status: 401 })
  await session.sign_out()
  await assert.rejects(session.get_account(), (cause) => cause instanceof FlorinError)

  const { bearer } = await anyone.sign_in(opening)
  const again = createClient({ url, bearer: async () => bearer ?? undefined })
  const actions: string[] = []
  // With two rows per page, the iteration spans several pages and skips none.
  for await (const entry of again.get_audit_log({ order: 'asc', limit: 2 })) {
    actions.push(`${entry.action} by ${entry.actor.type}`)
  }
  assert.deepEqual(actions, [
    'account.created by session',
    'api_key.created by session',
    'api_key.used by api_key',
    'account.updated by api_key',
    'api_key.used by api_key',
    'api_key.revoked by session',
    'session.ended by session',
    'session.created by session',
  ])
  assert.deepEqual((await verifyAudit(runtime.db)).faults, [])
})

test('the client tops up, issues a card, sees a purchase and verifies its webhook', async () => {
  const password = 'correct horse battery staple'
  const opened = await anyone.create_account({ email: 'linus@example.com', password })
  const session = createClient({ url, bearer: opened.bearer ?? undefined })
  const { key } = await session.create_api_key({})
  assert.ok(key !== null)
  const florin = createClient({ url, bearer: key })
  const receiver = await startReceiver()
  const events = ['card.issued', 'transaction.authorized']
  const { secret } = await florin.create_webhook({ url: receiver.url, events })

  const topup = await florin.create_topup({ amount_usd: 100 })
  await onChain({ url, bearer: key, id: topup.id }, 'deposit', { amount_usd: 100 })
  await onChain({ url, bearer: key, id: topup.id }, 'confirm')
  assert.equal((await florin.get_topup({ id: topup.id })).status, 'completed')

  const card = await florin.issue_card({ type: 'virtual', load_usd: 50 })
  const idempotency_key = 'one-load'
  const loaded = await florin.load_card({ id: card.id, amount_usd: 10 }, { idempotency_key })
  const repeated = await florin.load_card({ id: card.id, amount_usd: 10 }, { idempotency_key })
  assert.deepEqual(repeated, loaded)
  assert.equal((await florin.get_balance()).balance_usd, 40)

  const held = await authorize(url, { key, card }, { amount: 25.5, merchant_name: 'Corner Books' })
  await follow(url, { key }, { id: held.id, verb: 'capture' })
  const bought = await florin.get_transaction({ id: held.id })
  assert.deepEqual([bought.status, bought.captured_usd], ['captured', 25.5])
  assert.match((await florin.reveal_pan({ id: card.id })).pan, /^400000\d{10}$/)
  await assert.rejects(florin.reveal_pan({ id: card.id }), { code: 'reveal_already_used' })
  const headers = { 'Reveal-Nonce': crypto.randomUUID() }
  assert.equal((await florin.reveal_pan({ id: card.id }, { headers })).card_id, card.id)

  const [issued] = await receiver.waitFor(2)
  const event = await verifyWebhook(issued?.body ?? '', issued?.headers ?? {}, secret ?? '')
  assert.deepEqual([event.type, event.data.object['id']], ['card.issued', card.id])
  await assertBooksSound(runtime.db)
})

const text = new TextEncoder()

test('evidence is uploaded as a file, bytes or a stream, and onProgress is called', async () => {
  const buyer = await openBuyer(service)
  const florin = createClient({ url, bearer: buyer.key })
  const filed = await florin.file_dispute({
    transaction_id: buyer.capture.id,
    reason: 'not_received',
    explanation: 'It never came.',
  })
  const { id } = filed
  const named = new File(['%PDF-1.7 paid'], 'receipt.pdf', { type: 'application/pdf' })
  const progress: number[] = []
  await florin.add_dispute_evidence({
    id,
    kind: 'receipt',
    note: 'What I paid.',
    file: named,
    onProgress: ({ bytes_sent }) => progress.push(bytes_sent),
  })
  assert.equal(progress.at(-1), named.size)
  const bytes = text.encode('plain words')
  await florin.add_dispute_evidence({ id, kind: 'other', file: bytes, file_name: 'words.txt' })
  const stream = new Blob(['more ', 'words']).stream()
  await florin.add_dispute_evidence({ id, kind: 'other', file: stream })
  const { evidence } = await florin.add_dispute_evidence({ id, kind: 'note', note: 'And this.' })
  assert.deepEqual(
    evidence.map(({ file_name, content_type, note }) => [file_name, content_type, note]),
    [
      ['receipt.pdf', 'application/pdf', 'What I paid.'],
      ['words.txt', 'text/plain', null],
      [null, 'text/plain', null],
      [null, null, 'And this.'],
    ],
  )
})
