import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { humanize, Status } from './badge.tsx'

const badgeOf = (of: string) => renderToStaticMarkup(createElement(Status, { of }))

test('a status is shown in words, with US spelling', () => {
  assert.match(badgeOf('partially_captured'), />Partially captured</)
  assert.match(badgeOf('cancelled'), />Canceled</)
  assert.equal(humanize('card.frozen'), 'Card frozen')
  assert.equal(humanize('mcc_blocked'), 'MCC blocked')
  assert.equal(humanize('three_ds_failed'), '3-D Secure failed')
})

test('a failure is red, a success green, open work amber and an unknown status neutral', () => {
  assert.match(badgeOf('declined'), /text-bad/)
  assert.match(badgeOf('completed'), /text-good/)
  assert.match(badgeOf('open'), /text-warn/)
  assert.match(badgeOf('unheard_of'), /text-soft/)
})
