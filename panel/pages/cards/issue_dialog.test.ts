import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { type Answers, refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { IssueDialog } from './issue_dialog.tsx'

const bins = [
  { bin: '510000', brand: 'mastercard' as const, types: ['virtual' as const], default: false },
  { bin: '400000', brand: 'visa' as const, types: ['virtual' as const], default: true },
  { bin: '400001', brand: 'visa' as const, types: ['physical' as const], default: true },
]
const card = sample('issue_card')
const answers: Answers = {
  get_balance: sample('get_balance', { balance_usd: 200 }),
  get_limits: sample('get_limits', { programme: { bins } }),
  issue_card: card,
}
const props = { open: true, onClose: () => {} }

test('without a choice, a reusable virtual card of the default network is issued and opened', async (t) => {
  const service = serve(t, answers)
  const page = await open(t, IssueDialog, props, { path: '/cards?issue' })
  await page.click('button', 'Issue card')
  assert.deepEqual(service.sent('issue_card'), [{ type: 'virtual', bin: '400000' }])
  assert.equal(page.path(), `/cards/${card.id}`)
})

test('name, amount, limits, usage and rules are sent as entered', async (t) => {
  const service = serve(t, answers)
  const page = await open(t, IssueDialog, props)
  await page.fill('Name (optional)', ' Cloud bills ')
  await page.fill('Load amount (optional)', '1,000')
  await page.fill('Daily', '50')
  await page.fill('Works for', 'merchant_locked')
  await page.fill('Merchant name (optional)', 'NETFLIX.COM')
  await page.fill('Valid until (optional)', '2026-12-24T18:00')
  await page.fill('Add blocked countries', 'france')
  await page.press('Enter')
  await page.click('button', 'Issue card')
  const [sent] = service.sent('issue_card')
  assert.deepEqual(sent, {
    type: 'virtual',
    bin: '400000',
    name: 'Cloud bills',
    load_usd: 1000,
    limits: { daily_usd: 50 },
    usage: 'merchant_locked',
    merchant_lock: { name: 'NETFLIX.COM' },
    valid_until: new Date('2026-12-24T18:00').toISOString(),
    geo: { allow: null, deny: ['FR'] },
  })
})

test('shipping_fields: a physical card needs an address, and offers the networks that have one', async (t) => {
  const service = serve(t, answers)
  const page = await open(t, IssueDialog, props)
  await page.fill('Type', 'physical')
  await page.click('button', 'Issue card')
  assert.deepEqual(service.sent('issue_card'), [], 'the address is required')
  await page.fill('Recipient', 'Ada Lovelace')
  await page.fill('Address', '12 St James Square')
  await page.fill('City', 'London')
  await page.fill('Postal code', 'SW1Y 4JH')
  await page.fill('Country', 'GB')
  await page.click('button', 'Issue card')
  const [sent] = service.sent('issue_card')
  assert.equal(sent?.['bin'], '400001')
  assert.deepEqual(sent?.['shipping'], {
    name: 'Ada Lovelace',
    line1: '12 St James Square',
    city: 'London',
    postal_code: 'SW1Y 4JH',
    country: 'GB',
    method: 'standard',
  })
})

test('shipping_fields, usage_fields: refused fields are shown where they were entered', async (t) => {
  const details = {
    'shipping.postal_code': 'is not valid',
    'limits.daily_usd': 'must be at most 100',
    valid_until: 'must be in the future',
    load_usd: 'must be at most 200',
  }
  serve(t, { ...answers, issue_card: refuse('invalid_request', details) })
  const page = await open(t, IssueDialog, props)
  await page.fill('Type', 'physical')
  for (const label of ['Recipient', 'Address', 'City', 'Postal code']) await page.fill(label, 'x')
  await page.fill('Country', 'GB')
  await page.click('button', 'Issue card')
  assert.equal(page.errorOf('Postal code'), 'Is not valid.')
  assert.equal(page.errorOf('Daily'), 'Must be at most 100.')
  assert.equal(page.errorOf('Valid until (optional)'), 'Must be in the future.')
  assert.equal(page.errorOf('Load amount (optional)'), 'Must be at most 200.')
  assert(page.has('dialog', 'Issue card'))
})

test('a refused rule is shown above the buttons, because its list may be closed', async (t) => {
  serve(t, { ...answers, issue_card: refuse('invalid_mcc', 'A range begins after its end.') })
  const page = await open(t, IssueDialog, props)
  await page.click('button', 'Issue card')
  assert.match(page.get('alert').textContent ?? '', /A range begins/)
})
