import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { createElement } from 'react'
import { FlorinError } from '#client/client.ts'
import { renderAt } from '#panel/test_support/render.tsx'
import { ErrorState } from './states.tsx'

test('the title of an object that does not exist reads like that of a missing page', () => {
  const titles = [
    ['No such card.', 'Card not found'],
    ['No such API key.', 'API key not found'],
    ['This link was already used.', 'This link was already used.'],
  ] as const
  for (const [message, title] of titles) {
    const problem = new FlorinError({ code: 'not_found', message, status: 404 })
    const html = renderAt('/', createElement(ErrorState, { problem, retry: () => undefined }))
    assert.ok(html.includes(`>${title}</p>`), html)
  }
})
