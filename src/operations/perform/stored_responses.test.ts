import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '#contract/operations.ts'
import { Problem, type ProblemCode, problem_statuses } from '#contract/problem.ts'
import type { Caller } from '#domain/context/context.ts'
import type { Invocation } from '#operations/invocation.ts'
import { idempotencyKeyFrom } from '#operations/steps/read_idempotency_key.ts'
import type { Keys } from '#platform/storage/keys.ts'
import { shapes } from '#test/support/contract.ts'
import { fingerprintRequest } from './fingerprint_request.ts'
import { isStorable, storedBody } from './stored_responses.ts'

test('a key has 1 to 255 visible characters; the quoted form is the same key', () => {
  assert.equal(idempotencyKeyFrom(null), null)
  for (const key of [
    'a',
    'x'.repeat(255),
    '!~',
    'a"b',
    "'q'",
    '8e03978e-40d5-43e8-bc93-6894a57f9324',
  ]) {
    assert.equal(idempotencyKeyFrom(key), key)
    assert.equal(idempotencyKeyFrom(`"${key}"`), key)
  }
})

test('any other key is refused', () => {
  const bad = ['', '""', ' ', 'a b', ' a', 'a ', 'a\tb', 'é', '😀', 'a\u0000', '\u007f', 'a, b']
  for (const key of [...bad, 'x'.repeat(256), 'x'.repeat(300), `"${'x'.repeat(256)}"`]) {
    assert.throws(
      () => idempotencyKeyFrom(key),
      (cause) => cause instanceof Problem && cause.code === 'invalid_idempotency_key',
      JSON.stringify(key),
    )
  }
})

test("only refusals by the account's state are stored: 409 and 422", () => {
  for (const [code, status] of Object.entries(problem_statuses)) {
    const expected = status === 409 || status === 422
    assert.equal(isStorable(new Problem(code as ProblemCode, 'x')), expected, code)
  }
})

test('values shown only once are never stored', () => {
  const once = shapes.filter(({ shown_once = [] }) => shown_once.length > 0)
  const names = once.map(({ name }) => name)
  assert.ok(names.includes('create_api_key') && names.includes('create_webhook'))
  for (const operation of once) {
    const output = Object.fromEntries((operation.shown_once ?? []).map((name) => [name, 'hidden']))
    const kept = storedBody(operation, { id: 'x_1', ...output })
    assert.ok(!kept.includes('hidden'), operation.name)
    assert.equal(JSON.parse(kept).id, 'x_1')
    for (const name of Object.keys(output)) assert.equal(JSON.parse(kept)[name], null)
    assert.equal(output[operation.shown_once?.[0] ?? ''], 'hidden', 'the response itself has them')
  }
  assert.deepEqual(
    shapes.filter(({ never_stored }) => never_stored).map(({ name }) => name),
    ['sign_in', 'reveal_pan'],
  )
})

const keys = { fingerprint: (purpose: string, text: string) => `${purpose}:${text}` } as Keys
const caller = (account_id: string) => ({ account_id }) as Caller

const fingerprint = (given: Partial<Invocation>) =>
  fingerprintRequest(
    { runtime: { keys }, request: {}, caller: null, operator: null, ...given } as Invocation,
    'k',
  )

const call = (input: Record<string, unknown>, account = 'acct_1') =>
  fingerprint({ operation: operations.load_card, caller: caller(account), input })

test('a key belongs to its account, operation and path', () => {
  const base = call({ id: 'card_1', amount_usd: 5 })
  assert.equal(call({ amount_usd: 5, id: 'card_1' }).scope, base.scope)
  assert.equal(call({ id: 'card_1', amount_usd: 6 }).scope, base.scope)
  assert.notEqual(call({ id: 'card_2', amount_usd: 5 }).scope, base.scope)
  assert.notEqual(call({ id: 'card_1', amount_usd: 5 }, 'acct_2').scope, base.scope)
  const unload = fingerprint({
    operation: operations.unload_card,
    caller: caller('acct_1'),
    input: { id: 'card_1' },
  })
  assert.notEqual(unload.scope, base.scope)
})

test('the fingerprint covers the whole input and not its formatting', () => {
  const base = call({ id: 'card_1', amount_usd: 5 })
  assert.equal(call({ amount_usd: 5, id: 'card_1' }).fingerprint, base.fingerprint)
  assert.notEqual(call({ id: 'card_1', amount_usd: 5.01 }).fingerprint, base.fingerprint)
  assert.notEqual(call({ id: 'card_1' }).fingerprint, base.fingerprint)
})

test('the same input with another file is another request', () => {
  const upload = (sha256: string) =>
    fingerprint({
      operation: operations.add_dispute_evidence,
      caller: caller('acct_1'),
      input: { id: 'dsp_1', kind: 'file' },
      request: { upload: { sha256 } } as Invocation['request'],
    })
  assert.equal(upload('aa').fingerprint, upload('aa').fingerprint)
  assert.notEqual(upload('aa').fingerprint, upload('bb').fingerprint)
  assert.equal(upload('aa').scope, upload('bb').scope)
})

test('without a bearer a key belongs to the email, ignoring case', () => {
  const ask = (email: string) =>
    fingerprint({ operation: operations.create_account, input: { email, password: 'p' } })
  assert.equal(ask('Ada@Example.com').scope, ask('ada@example.com').scope)
  assert.notEqual(ask('bob@example.com').scope, ask('ada@example.com').scope)
  assert.equal(ask('ada@example.com').account_id, null)
})
