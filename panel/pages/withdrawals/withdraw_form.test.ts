import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { type Answers, no_response, refuse, serve } from '#panel/test_support/network.ts'
import { open, type Page } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { WithdrawForm } from './withdraw_form.tsx'

const withdrawal = sample('withdraw')
const { address } = withdrawal
const spend_limits = { withdrawal_fee_usd: 1 }
const answersWith = (two_factor_enabled: boolean): Answers => ({
  get_account: sample('get_account', { two_factor_enabled }),
  get_balance: sample('get_balance', { balance_usd: 250.5 }),
  get_limits: sample('get_limits', { spend_limits }),
  withdraw: withdrawal,
})
const props = { onClose: () => {} }

async function review(page: Page, amount = '100'): Promise<void> {
  await page.fill('Amount', amount)
  await page.fill('Wallet address', ` ${address} `)
  await page.click('button', 'Continue')
}

test('nothing is sent before the address and the net amount were reviewed', async (t) => {
  const service = serve(t, answersWith(false))
  const page = await open(t, WithdrawForm, props)
  await review(page)
  assert.deepEqual(service.sent('withdraw'), [])
  assert(page.in('dialog', 'Review withdrawal').text().includes(address))
  assert.match(page.text(), /You receive \$99\.00/)
  await page.click('button', 'Send $100.00')
  assert.deepEqual(service.sent('withdraw'), [{ amount_usd: 100, address }])
  assert.equal(page.path(), `/withdrawals/${withdrawal.id}`)
})

test('the whole balance is entered by one button, and Back keeps what was typed', async (t) => {
  serve(t, answersWith(false))
  const page = await open(t, WithdrawForm, props)
  await page.click('button', 'Withdraw all')
  assert.equal(page.valueOf('Amount'), '250.5')
  await page.fill('Wallet address', address)
  await page.click('button', 'Continue')
  await page.click('button', 'Back')
  assert.equal(page.valueOf('Amount'), '250.5')
  assert.equal(page.valueOf('Wallet address'), address)
})

test('a refused amount or address leads back to its field', async (t) => {
  const service = serve(t, {
    ...answersWith(false),
    withdraw: refuse('insufficient_balance', 'Your balance is $150.50.'),
  })
  const page = await open(t, WithdrawForm, props)
  await review(page, '200')
  await page.click('button', 'Send $200.00')
  assert.equal(page.errorOf('Amount'), 'Your balance is $150.50.')
  service.answer({ withdraw: refuse('address_blocked', { address: 'is blocked' }) })
  await page.click('button', 'Continue')
  await page.click('button', 'Send $200.00')
  assert.equal(page.errorOf('Wallet address'), 'Is blocked.')
  assert.equal(page.errorOf('Amount'), undefined)
})

test('with two-factor authentication the review asks for a code, and shows a wrong one there', async (t) => {
  const service = serve(t, {
    ...answersWith(true),
    withdraw: refuse('totp_invalid', 'Incorrect code.'),
  })
  const page = await open(t, WithdrawForm, props)
  await review(page)
  await page.fill('Authentication code', ' 111111 ')
  await page.click('button', 'Send $100.00')
  assert.equal(page.errorOf('Authentication code'), 'Incorrect code.')
  assert.equal(service.sent('withdraw')[0]?.['totp_code'], '111111')
})

test('two-factor authentication that was turned on elsewhere asks for a code, and keeps the rest', async (t) => {
  const service = serve(t, {
    ...answersWith(false),
    withdraw: refuse('totp_required', 'Send totp_code.'),
  })
  const page = await open(t, WithdrawForm, props)
  await review(page)
  await page.click('button', 'Send $100.00')
  assert(!page.has('alert'))
  service.answer({ withdraw: withdrawal })
  await page.fill('Authentication code', '111111')
  await page.click('button', 'Send $100.00')
  const [, second] = service.sent('withdraw')
  assert.deepEqual(second, { amount_usd: 100, address, totp_code: '111111' })
})

test('an amount that is too small, or more than there is, is refused before the review', async (t) => {
  const service = serve(t, answersWith(false))
  const page = await open(t, WithdrawForm, props)
  await review(page, '0.5')
  assert.equal(page.errorOf('Amount'), 'A withdrawal must be between $10.00 and $25,000.00.')
  assert.match(page.text(), /You receive –/)
  await review(page, '250.51')
  assert.equal(page.errorOf('Amount'), 'Your balance is too low.')
  assert(document.activeElement === page.get('textbox', 'Amount'), 'the field has the focus')
  await review(page, '250.50')
  assert(page.has('dialog', 'Review withdrawal'))
  assert.deepEqual(service.sent('withdraw'), [])
})

test('a fee that is not known yet is not reviewed as $0.00', async (t) => {
  serve(t, { ...answersWith(false), get_limits: no_response })
  const page = await open(t, WithdrawForm, props)
  await review(page)
  assert(page.has('dialog', 'Review withdrawal'))
  assert.doesNotMatch(page.text(), /Fee|You receive/)
})
