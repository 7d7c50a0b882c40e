import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { formatMoney, formatUsd, Money, parseUsd } from './money.tsx'

const textOf = (usd: number, signed = false) =>
  renderToStaticMarkup(createElement(Money, { usd, signed })).replaceAll(/<[^>]+>/g, '')

test('amounts have two decimals, or as many as the chain sent', () => {
  assert.equal(formatUsd(0), '$0.00')
  assert.equal(formatUsd(1234.5), '$1,234.50')
  assert.equal(formatUsd(0.1 + 0.2), '$0.30')
  assert.equal(formatUsd(24.000001), '$24.000001')
  assert.equal(formatMoney(1500, 'JPY'), '¥1,500')
})

test('a credit has a plus sign, and a negative amount a minus sign', () => {
  assert.equal(textOf(12.5), '$12.50')
  assert.equal(textOf(12.5, true), '+$12.50')
  assert.equal(textOf(-12.5, true), '−$12.50')
})

test('an amount field takes digits, commas and up to six decimals', () => {
  assert.equal(parseUsd(' 1,250.50 '), 1250.5)
  assert.equal(parseUsd('0.000001'), 0.000001)
  for (const text of ['', 'abc', '-5', '1e3', '0x10', '.5', '5.', '1.0000001', '25,50', '1,0000']) {
    assert.equal(parseUsd(text), null, text)
  }
})

test('the negative of zero has no sign', () => {
  assert.equal(formatUsd(-0), '$0.00')
})
