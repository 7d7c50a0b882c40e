import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { PaymentRequired } from '@x402/fetch'
import { createClient } from '#client/client.ts'
import { startBaseChain } from '#test/support/base_chain.ts'
import { fromHeader, signed, toHeader } from '#test/support/paying.ts'
import { createKey, openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const data_dir = mkdtempSync(join(tmpdir(), 'florin_paid_client_'))
const chain = await startBaseChain(data_dir)
const { url } = await startTestService({ data_dir, env: chain.env({ issue_card: '0.50' }) })
after(() => rmSync(data_dir, { recursive: true, force: true }))

test('the client pays by its hook, once a call, and gets what it paid for', async () => {
  const { key } = await createKey(url, (await openAccount(url)).bearer)
  const payer = await chain.payer(1_000_000n)
  const asked: string[] = []
  const receipts: string[] = []
  const florin = createClient({
    url,
    bearer: key,
    onPaymentRequired: async (requirement, { operation }) => {
      asked.push(`${operation} ${requirement.accepts[0]?.amount}`)
      return toHeader(await signed(payer, requirement as unknown as PaymentRequired))
    },
    onResponse: ({ headers }) => {
      const receipt = headers.get('payment-response')
      if (receipt !== null) receipts.push(fromHeader(receipt).payer)
    },
  })
  const card = await florin.issue_card({ type: 'virtual' })
  assert.equal(card.status, 'active')
  assert.deepEqual(asked, ['issue_card 500000'])
  assert.deepEqual(receipts, [payer.address])
  assert.equal(await chain.balanceOf(payer.address), 500_000n)
  assert.equal((await florin.list_cards()).data.length, 1)

  const unwilling = createClient({ url, bearer: key })
  await assert.rejects(unwilling.issue_card({ type: 'virtual' }), { code: 'payment_required' })
})
