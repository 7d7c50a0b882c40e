import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Recalls } from './recalls.ts'

test('a recall concerns the rows that were being leased, not later ones', () => {
  const recalls = new Recalls()
  const before = recalls.count
  recalls.add('wh_1')
  assert.equal(recalls.isRecalledSince(before, 'wh_1'), true)
  assert.equal(recalls.isRecalledSince(before, 'wh_2'), false)
  assert.equal(recalls.isRecalledSince(recalls.count, 'wh_1'), false)
})

test('no recall is missed after thousands of others', () => {
  const recalls = new Recalls()
  const before = recalls.count
  recalls.add('wh_1')
  for (let at = 2; at < 3_000; at += 1) recalls.add(`wh_${at}`)
  assert.equal(recalls.isRecalledSince(before, 'wh_1'), true)
  const later = recalls.count
  assert.equal(recalls.isRecalledSince(later, 'wh_1'), false)
})
