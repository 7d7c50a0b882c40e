import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import type { Transaction } from '#contract/transactions.ts'
import { Amount } from './amount.tsx'

function render(direction: Transaction['direction'], status: Transaction['status']): string {
  const row = { amount_usd: 12.5, direction, status } as Transaction
  return renderToStaticMarkup(createElement(Amount, { row }))
}

test('a refund has a plus sign, a purchase has none', () => {
  assert.match(render('credit', 'settled'), /\+\$12\.50/)
  assert.doesNotMatch(render('debit', 'captured'), /\+/)
})

test('a caller decides the weight of every amount, whatever its status', () => {
  for (const status of ['declined', 'captured', 'settled'] as const) {
    for (const direction of ['debit', 'credit'] as const) {
      const row = { amount_usd: 12.5, direction, status } as Transaction
      const html = renderToStaticMarkup(createElement(Amount, { row, className: 'font-semibold' }))
      assert.match(html, /font-semibold/)
      assert.doesNotMatch(html, /font-medium/)
    }
  }
})

test('an amount that was never charged is struck through', () => {
  for (const status of ['declined', 'reversed', 'expired'] as const) {
    assert.match(render('debit', status), /line-through/, status)
  }
  assert.match(render('credit', 'reversed'), /line-through/)
  assert.doesNotMatch(render('debit', 'pending'), /line-through/)
})
