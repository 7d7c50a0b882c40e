import assert from 'node:assert/strict'
import { test } from 'node:test'
import '#panel/test_support/browser_globals.ts'
import { createElement } from 'react'
import { FlorinError } from '#client/client.ts'
import { renderAt } from '#panel/test_support/render.tsx'
import { fieldError, ProblemNote, problemText } from './problem_note.tsx'

const refusal = (field: string, message: string) =>
  new FlorinError({
    code: 'invalid_request',
    message: `${field} ${message}.`,
    status: 400,
    details: [{ field, message }],
    request_id: 'req_1',
  })

test('a message about a field names it as the form does', () => {
  const cases = [
    ['amount_usd', 'must not be negative', 'Amount must not be negative.'],
    ['body', 'must not be empty', 'Message must not be empty.'],
    ['limits.daily_usd', 'must be at most 10', 'Daily limit must be at most 10.'],
    ['mcc.allow.0', 'is not a valid code', 'Allow is not a valid code.'],
    ['merchant_lock.name', 'is required', 'Name is required.'],
  ] as const
  for (const [field, message, text] of cases) {
    assert.equal(problemText(refusal(field, message)), text)
  }
  const other = new FlorinError({ code: 'not_found', message: 'No such card.', status: 404 })
  assert.equal(problemText(other), 'No such card.')
})

test('an error that its field already shows is repeated for screen readers only', () => {
  const noteOf = (problem: FlorinError, fields: string[]) =>
    renderAt('/', createElement(ProblemNote, { problem, fields }))
  const refused = refusal('url', 'must be public')
  assert.match(noteOf(refused, ['url']), /role="alert" class="sr-only">Url must be public\.</)
  assert.doesNotMatch(noteOf(refused, ['name']), /sr-only/)
  const more = new FlorinError({
    code: 'invalid_request',
    message: 'Two fields are wrong.',
    status: 400,
    details: [
      { field: 'url', message: 'must be public' },
      { field: 'events', message: 'must not be empty' },
    ],
  })
  assert.doesNotMatch(noteOf(more, ['url']), /sr-only/)
  assert.match(noteOf(more, ['url', 'events']), /sr-only/)
  const low = new FlorinError({ code: 'insufficient_balance', message: 'Too low.', status: 409 })
  assert.match(noteOf(low, ['amount_usd']), /sr-only/)
  assert.doesNotMatch(noteOf(low, ['address']), /sr-only/)
})

test('a field shows the sentence of an error that is about it', () => {
  const refused = refusal('url', 'must be public')
  assert.equal(fieldError(refused, 'url'), 'Must be public.')
  assert.equal(fieldError(refused, 'name'), undefined)
  assert.equal(fieldError(null, 'url'), undefined)
  const full = new FlorinError({
    code: 'amount_out_of_range',
    message: 'You can add $5.00 more.',
    status: 422,
    details: [{ field: 'amount_usd', message: 'must be at most 5' }],
  })
  assert.equal(fieldError(full, 'amount_usd'), 'You can add $5.00 more.')
  const wrong = new FlorinError({
    code: 'invalid_credentials',
    message: 'Incorrect password.',
    status: 401,
  })
  assert.equal(fieldError(wrong, 'current_password'), 'Incorrect password.')
  assert.equal(fieldError(wrong, 'password'), undefined, 'the new password is not refused')
})

test('only a fault of the service shows its request ID', () => {
  const text = renderAt(
    '/',
    createElement(ProblemNote, { problem: refusal('name', 'is required') }),
  )
  assert.doesNotMatch(text, /req_1/)
  const fault = new FlorinError({
    code: 'internal_error',
    message: 'Something went wrong on our end.',
    status: 500,
    request_id: 'req_1',
  })
  const shown = renderAt('/', createElement(ProblemNote, { problem: fault }))
  assert.match(shown, /Something went wrong on our end\..*req_1/s)
})
