import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { QueryClientProvider } from '@tanstack/react-query'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import type { Card } from '#contract/cards.ts'
import { queryClient } from '#panel/queries.ts'
import { refuse, serve } from '#panel/test_support/network.ts'
import { open } from '#panel/test_support/page.ts'
import { sample } from '#panel/test_support/samples.ts'
import { Limits } from './limits.tsx'

const spent = {
  daily_usd: 45,
  daily_resets_at: '2026-11-17T00:00:00.000Z',
  monthly_usd: 120,
  monthly_resets_at: '2026-12-01T00:00:00.000Z',
}

function render(limits: Partial<Card['limits']>, status: Card['status'] = 'active'): string {
  const none = { per_transaction_usd: null, daily_usd: null, monthly_usd: null, spent }
  const card = { id: 'card_1', status, limits: { ...none, ...limits } } as unknown as Card
  return renderToStaticMarkup(
    createElement(QueryClientProvider, { client: queryClient }, createElement(Limits, { card })),
  )
}

const textOf = (html: string) => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')

test('a card without limits shows what it spent', () => {
  const html = render({})
  assert.match(textOf(html), /Per purchase No limit Today \$45\.00 , no limit This month \$120\.00/)
  assert.doesNotMatch(html, /role="meter"/)
})

test('a limit shows how much is used, and when it resets', () => {
  const html = render({ daily_usd: 50 })
  assert.match(html, /role="meter" aria-label="Spent today"[^>]*aria-valuenow="45"/)
  assert.match(textOf(html), /\$45\.00 of \$50\.00 Resets /)
})

test('a nearly used limit is amber, and a limit of zero is full', () => {
  assert.match(render({ daily_usd: 50 }), /bg-warn" style="width:90%"/)
  assert.match(render({ daily_usd: 100 }), /bg-accent" style="width:45%"/)
  assert.match(render({ daily_usd: 0 }), /bg-warn" style="width:100%"/)
})

test('limits of a canceled card cannot be edited', () => {
  assert.match(render({}), /Edit spending limits/)
  assert.doesNotMatch(render({}, 'cancelled'), /Edit spending limits/)
})

const limited = sample('get_card', {
  status: 'active',
  limits: { per_transaction_usd: null, daily_usd: 50, monthly_usd: 500 },
})

test('an emptied field removes its limit, a zero blocks, and unchanged limits are not sent', async (t) => {
  const service = serve(t, { set_card_limits: limited })
  const page = await open(t, Limits, { card: limited })
  await page.click('button', 'Edit spending limits')
  await page.fill('Daily', '')
  await page.fill('Per purchase', '0')
  await page.click('button', 'Save')
  const sent = { id: limited.id, per_transaction_usd: 0, daily_usd: null }
  assert.deepEqual(service.sent('set_card_limits'), [sent])
  assert(!page.has('dialog'))
})

test('saving without a change sends nothing', async (t) => {
  const service = serve(t, {})
  const page = await open(t, Limits, { card: limited })
  await page.click('button', 'Edit spending limits')
  await page.click('button', 'Save')
  assert.deepEqual(service.calls, [])
  assert(!page.has('dialog'))
})

test('a refused limit is shown at its field, and Cancel discards the change', async (t) => {
  const set_card_limits = refuse('amount_out_of_range', { daily_usd: 'must be at most 100' })
  serve(t, { set_card_limits })
  const page = await open(t, Limits, { card: limited })
  await page.click('button', 'Edit spending limits')
  await page.fill('Daily', '200')
  await page.click('button', 'Save')
  assert.equal(page.errorOf('Daily'), 'Must be at most 100.')
  await page.click('button', 'Cancel')
  await page.click('button', 'Edit spending limits')
  assert.equal(page.valueOf('Daily'), '50')
})
