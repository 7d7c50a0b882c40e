import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { useTestClock } from '#panel/test_support/clock.ts'
import { open } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { ShippingStatus } from './shipping_status.tsx'
import { CardUsage } from './usage.tsx'

const shipping = sample('get_card').shipping
assert(shipping !== null)

test('shipping_status: the tracking number links to the carrier only over http', async (t) => {
  const page = await open(t, ShippingStatus, { shipping })
  assert.equal(page.get('link').getAttribute('href'), shipping.tracking_url)
})

test('shipping_status: a script as tracking URL is not a link', async (t) => {
  const tracking_url = 'javascript:alert(1)'
  const page = await open(t, ShippingStatus, { shipping: { ...shipping, tracking_url } })
  assert(!page.has('link'))
  assert.match(page.text(), new RegExp(shipping.tracking_number ?? 'none'))
})

test('shipping_status: parts of the address that are missing leave no empty line', async (t) => {
  const short = { ...shipping, line2: null, state: null }
  const page = await open(t, ShippingStatus, { shipping: short })
  const lines = [...document.querySelectorAll('address span')].map((line) => line.textContent)
  assert.equal(lines.length, 4)
  assert(lines.every((line) => line !== ''))
  assert.match(page.text(), /United Kingdom/)
})

test('usage: a card that is valid until a time says so, and once it is over, since when', async (t) => {
  useTestClock(t, '2026-11-16T09:30:00.000Z')
  const valid_until = '2026-11-16T09:30:05.000Z'
  const card = sample('get_card', { usage: 'reusable', valid_until, merchant_lock: null })
  const page = await open(t, CardUsage, { card })
  assert.match(page.text(), /Valid until/)
  await page.pass(7_000)
  assert.match(page.text(), /declined since/)
})

test('usage: a card for any purchase at any time has no such section', async (t) => {
  const card = sample('get_card', { usage: 'reusable', valid_until: null, merchant_lock: null })
  const page = await open(t, CardUsage, { card })
  assert.equal(page.has('heading'), false)
})
