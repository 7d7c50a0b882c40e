import assert from 'node:assert/strict'
import { test } from 'node:test'
import { usageSentence } from './card_usage.ts'

test('a card says what it can be used for, and what it was used for', () => {
  const of = (usage: 'reusable' | 'single_use' | 'merchant_locked', is_used = false) =>
    usageSentence({ usage, merchant_lock: null, cancel_reason: is_used ? 'used' : null })
  assert.equal(of('reusable'), null)
  assert.equal(of('single_use'), 'This card works for one purchase and is then canceled.')
  assert.match(of('single_use', true) ?? '', /made its purchase and was canceled/)
  assert.match(of('merchant_locked') ?? '', /^The first merchant/)
  const merchant_lock = { id: null, name: 'Netflix' }
  const locked = { usage: 'merchant_locked', merchant_lock, cancel_reason: null } as const
  assert.equal(usageSentence(locked), 'This card only works at Netflix.')
})
