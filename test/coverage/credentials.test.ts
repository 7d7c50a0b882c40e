import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OperationShape, pathNames } from '#contract/operation.ts'
import { assertRefused } from '#test/support/calls.ts'
import { pathOf, queryOf, sentFor, shapes } from '#test/support/contract.ts'
import { type Reply, type RequestOptions, send } from '#test/support/http.ts'
import { createKey, openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const { url } = await startTestService()
const ada = await openAccount(url)
const { key: api_key } = await createKey(url, ada.bearer)

const call = (operation: OperationShape, sent: RequestOptions = {}) =>
  send(url, operation.method, pathOf(operation) + queryOf(operation), {
    ...sentFor(operation),
    ...sent,
  })

/** Headers of every response. */
function assertHeaders(reply: Reply): void {
  assert.match(reply.headers.get('request-id') ?? '', /^req_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
  assert.match(reply.headers.get('ratelimit-policy') ?? '', /^"\w+";q=\d+;w=\d+/)
  assert.match(reply.headers.get('ratelimit') ?? '', /^"sustained";r=\d+;t=\d+$/)
}

function assertRefusal(reply: Reply, status: number, error: string): void {
  assertRefused(reply, status, error)
  assertHeaders(reply)
  assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
  const { details, ...rest } = reply.body
  assert.deepEqual(Object.keys(rest).sort(), ['error', 'message', 'request_id'])
  if (details !== undefined) assert.ok(Array.isArray(details))
}

const BEARERLESS = ['create_account', 'sign_in', 'request_password_reset', 'reset_password']
const asks_for_bearer = shapes.filter(({ access }) => access !== 'anyone')

test('every operation asks for a bearer except those that come before one', () => {
  const open = shapes.filter(({ access }) => access === 'anyone').map(({ name }) => name)
  assert.deepEqual(open, BEARERLESS)
})

/** Invalid bearers; the last two are well-formed but unknown. */
const strangers = [
  'x',
  'null',
  api_key.slice(0, -1),
  `${api_key}0`,
  api_key.replace('flk_', 'fls_'),
  api_key.toUpperCase(),
  'flk_test_0000000000000000000000000000000000000000000000000000h6c6t5',
  'fls_test_0000000000000000000000000000000000000000000000000000000000',
]

for (const operation of asks_for_bearer) {
  test(`${operation.name}: 401 without a bearer and with an unknown one`, async () => {
    const without = await call(operation)
    assertRefusal(without, 401, 'missing_token')
    assert.match(without.headers.get('www-authenticate') ?? '', /^Bearer/)
    for (const bearer of strangers) {
      const reply = await call(operation, { bearer })
      assertRefusal(reply, 401, 'invalid_token')
      assert.match(reply.headers.get('www-authenticate') ?? '', /^Bearer/)
      assert.ok(!reply.text.includes(bearer) || bearer.length < 5, 'the bearer is not repeated')
    }
    for (const authorization of [
      'Basic YTpi',
      'Bearer',
      `bearer${api_key}`,
      api_key,
      'Bearer a b',
    ]) {
      const reply = await call(operation, { headers: { authorization } })
      assert.equal(reply.status, 401, authorization)
    }
  })
}

const denied = (kind: 'session' | 'api_key') =>
  asks_for_bearer.filter(({ access }) => access !== 'anyone' && access[kind] === false)

test('the operations that a kind of bearer may not call are exactly the contract’s', () => {
  assert.deepEqual(
    denied('session').map(({ name }) => name),
    ['reveal_pan'],
  )
  assert.deepEqual(
    denied('api_key').map(({ name }) => name),
    ['sign_out', 'enable_2fa', 'disable_2fa', 'decide_approval'],
  )
})

/** The refusals of a new account's calls that come from the operation itself. */
const REFUSED_BEHIND_DOOR: Record<string, readonly [number, string]> = {
  disable_2fa: [409, 'totp_not_enabled'],
  file_dispute: [404, 'not_found'],
  issue_card: [409, 'insufficient_balance'],
  open_ticket: [403, 'active_card_required'],
  withdraw: [409, 'insufficient_balance'],
}
const CREATES = ['create_api_key', 'create_topup', 'create_webhook']

/** An operation on an object ends at the unknown ID of its path, any other one succeeds. */
function outcomeOf({ name, path }: OperationShape): readonly [number, string | undefined] {
  if (pathNames(path).length > 0) return [404, 'not_found']
  return [CREATES.includes(name) ? 201 : 200, undefined]
}

for (const [kind, bearer] of [
  ['session', ada.bearer],
  ['api_key', api_key],
] as const) {
  for (const operation of denied(kind)) {
    test(`${operation.name}: 403 for a bearer of the kind ${kind}`, async () => {
      assertRefusal(await call(operation, { bearer }), 403, 'credential_not_allowed')
    })
  }
  for (const operation of asks_for_bearer.filter((each) => !denied(kind).includes(each))) {
    // These two would end the bearer; their own tests call them.
    if (['sign_out', 'revoke_api_key'].includes(operation.name)) continue
    test(`${operation.name}: a bearer of the kind ${kind} gets past the door`, async () => {
      const reply = await call(operation, { bearer })
      assertHeaders(reply)
      const [status, error] = REFUSED_BEHIND_DOOR[operation.name] ?? outcomeOf(operation)
      assert.equal(reply.status, status, reply.text)
      assert.equal(reply.body['error'], error, reply.text)
    })
  }
}

test('an API key cannot change the email or the password', async () => {
  for (const body of [{ email: 'x@example.com' }, { password: 'x' }, { current_password: 'x' }]) {
    const reply = await send(url, 'PATCH', '/v1/accounts/me', { bearer: api_key, body })
    assertRefusal(reply, 403, 'credential_not_allowed')
  }
})

test('a bearer in the query is not looked at', async () => {
  for (const name of ['access_token', 'token', 'bearer']) {
    const reply = await send(url, 'GET', `/v1/accounts/me?${name}=${api_key}`)
    assertRefusal(reply, 401, 'missing_token')
  }
})

test('operations that ask for no bearer ignore one', async () => {
  for (const name of BEARERLESS) {
    const operation = shapes.find((shape) => shape.name === name) as OperationShape
    const reply = await call(operation, { bearer: 'x', body: {} })
    assertRefusal(reply, 400, 'invalid_request')
  }
})
