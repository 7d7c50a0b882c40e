import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Access, type OperationShape, pathNames } from './operation.ts'
import { operations } from './operations.ts'
import { problem_statuses } from './problem.ts'
import { type Route, routes } from './routes.ts'
import type { Scope } from './scopes.ts'

const shapes: readonly OperationShape[] = Object.values(operations)

const dropUndefined = (record: object) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined))

const fieldsOf = (schema: TSchema): Readonly<Record<string, TSchema>> =>
  (schema as { properties?: Record<string, TSchema> }).properties ?? {}

/**
 * Access per operation, deliberately repeated here so that loosening a declaration by mistake fails
 * the test. Columns: session, API key, scopes ('-' = denied).
 */
const access_table = `
create_account          anyone
sign_in                 anyone
sign_out                session -   -
get_account             session key account:read
update_account          session notifications -
enable_2fa              session -   -
disable_2fa             session -   -
list_api_keys           session key -
create_api_key          session key -
revoke_api_key          session key -
get_balance             session key balance:read
get_balance_history     session key balance:read
create_topup            session key topup:create
list_topups             session key topup:read
get_topup               session key topup:read
cancel_topup            session key topup:create
list_cards              session key card:read
issue_card              session key card:issue[load_usd=card:control]
get_card                session key card:read
reveal_pan              -       key card:reveal_pan
replace_card            session key card:issue&card:control
load_card               session key card:control
unload_card             session key card:control
freeze_card             session key card:control
unfreeze_card           session key card:control
cancel_card             session key card:control
set_card_limits         session key card:control
set_mcc_rules           session key card:control
set_card_geo            session key card:control
list_transactions       session key transaction:read
get_transaction         session key transaction:read
list_card_transactions  session key transaction:read
get_auth_details        session key transaction:read
get_activity            session key topup:read|card:read|transaction:read
filter_activity         session key topup:read|card:read|transaction:read
get_audit_log           session key -
withdraw                session key withdrawal:create
list_withdrawals        session key withdrawal:read
get_withdrawal          session key withdrawal:read
file_dispute            session key dispute:write
list_disputes           session key dispute:write|transaction:read
get_dispute             session key dispute:write|transaction:read
add_dispute_evidence    session key dispute:write
list_webhooks           session key webhook:write
create_webhook          session key webhook:write[events~three_ds.challenge=card:control]
update_webhook          session key webhook:write[events~three_ds.challenge=card:control]
delete_webhook          session key webhook:write
replay_webhook          session key webhook:write
open_ticket             session key -
list_tickets            session key -
get_system_health       session key system:read
get_limits              session key system:read
`

/** Operations that the specification doesn't have, in the order of the contract. */
const added_access_table = `
request_password_reset  anyone
reset_password          anyone
list_sessions           session key -
revoke_session          session key -
update_card             session key card:control
get_ticket              session key -
reply_ticket            session key -
get_spending            session key transaction:read
list_statements         session key balance:read&transaction:read
list_approvals          session key any
decide_approval         session -   -
`

const rowsOf = (table: string) =>
  table
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(/\s+/))

const specified = rowsOf(access_table)
const rows = [...specified, ...rowsOf(added_access_table)]

function accessOf([, session, key, oauth = '-']: readonly string[]): Access {
  if (session === 'anyone') return 'anyone'
  const [, all = '', field = '', item, scope] =
    /^([^[]*)(?:\[(\w+)(?:~([\w.]+))?=(.+)\])?$/.exec(oauth) ?? []
  const more = scope as Scope | undefined
  const with_item = item && more && { with_item: { [field]: { [item]: more } } }
  const with_field = !item && more && { with_field: { [field]: more } }
  return {
    session: session === 'session',
    api_key: key === 'key' || (key === '-' ? false : { only_fields: [key ?? ''] }),
    oauth:
      oauth === '-'
        ? null
        : oauth === 'any'
          ? { all: [] }
          : oauth.includes('|')
            ? { any: oauth.split('|') as Scope[] }
            : { all: all.split('&') as Scope[], ...with_field, ...with_item },
  }
}

test('the contract has the 52 operations of the specification in their order, then the added ones', () => {
  assert.equal(specified.length, 52)
  assert.deepEqual(
    Object.keys(operations),
    rows.map(([name]) => name),
  )
})

test('every operation is registered under its own name', () => {
  for (const [key, shape] of Object.entries(operations)) assert.equal(shape.name, key)
})

test('every operation has one route and every route one operation', () => {
  assert.deepEqual(Object.keys(routes), Object.keys(operations))
  for (const shape of shapes) {
    const route: Route = routes[shape.name as keyof typeof routes]
    const { method, path, carries, paged, never_stored } = shape
    assert.deepEqual({ ...route }, dropUndefined({ method, path, carries, paged, never_stored }))
  }
})

test('every operation accepts exactly the credentials in the access table', () => {
  for (const row of rows) {
    const shape = shapes.find(({ name }) => name === row[0])
    assert.deepEqual(shape?.access, accessOf(row), row[0])
  }
})

/** Method, path and success status of every operation, copied from the specification. */
const specified_routes = `
POST /accounts 201, POST /sessions 200, DELETE /sessions 204, GET /accounts/me 200,
PATCH /accounts/me 200, POST /accounts/me/totp 200, DELETE /accounts/me/totp 204,
GET /api_keys 200, POST /api_keys 201, DELETE /api_keys/{id} 204,
GET /balance 200, GET /balance/history 200,
POST /topups 201, GET /topups 200, GET /topups/{id} 200, POST /topups/{id}/cancel 200,
GET /cards 200, POST /cards 201, GET /cards/{id} 200, GET /cards/{id}/pan 200,
POST /cards/{id}/replace 200, POST /cards/{id}/load 200, POST /cards/{id}/unload 200,
POST /cards/{id}/freeze 200, POST /cards/{id}/unfreeze 200, POST /cards/{id}/cancel 200,
PATCH /cards/{id}/limits 200, PATCH /cards/{id}/mcc 200, PATCH /cards/{id}/geo 200,
GET /transactions 200, GET /transactions/{id} 200, GET /cards/{id}/transactions 200,
GET /transactions/{id}/auth 200, GET /activity 200, GET /activity 200, GET /audit_log 200,
POST /withdrawals 201, GET /withdrawals 200, GET /withdrawals/{id} 200,
POST /disputes 201, GET /disputes 200, GET /disputes/{id} 200, POST /disputes/{id}/evidence 200,
GET /webhooks 200, POST /webhooks 201, PATCH /webhooks/{id} 200, DELETE /webhooks/{id} 204,
POST /webhooks/{id}/replay/{eid} 200,
POST /tickets 201, GET /tickets 200, GET /system/health 200, GET /system/limits 200`

/** The same of the added operations. */
const added_routes: readonly string[] = [
  'POST /password_resets 202',
  'POST /password_resets/confirm 204',
  'GET /sessions 200',
  'DELETE /sessions/{id} 204',
  'PATCH /cards/{id} 200',
  'GET /tickets/{id} 200',
  'POST /tickets/{id}/messages 201',
  'GET /spending 200',
  'GET /statements 200',
  'GET /approvals 200',
  'POST /approvals/{id} 200',
]

test('method, path and success status match the specification', () => {
  assert.deepEqual(
    shapes.map(({ method, path, status }) => `${method} ${path} ${status}`),
    [...specified_routes.split(',').map((route) => route.trim()), ...added_routes],
  )
})

test('only a variant shares its method and path with another operation', () => {
  const seen = new Map<string, string>()
  for (const shape of shapes) {
    const route = `${shape.method} ${shape.path}`
    if (shape.variant_of === undefined) {
      assert.equal(seen.has(route), false, route)
      seen.set(route, shape.name)
    } else {
      assert.equal(seen.get(route), shape.variant_of, shape.name)
      assert.ok((shape.input as { required?: string[] }).required?.length, shape.name)
    }
  }
})

test('every path parameter is a required input field', () => {
  for (const { name, path, input } of shapes) {
    const required = (input as { required?: string[] }).required ?? []
    for (const in_path of pathNames(path)) assert.ok(required.includes(in_path), name)
  }
})

/** This schema and every schema nested in it, with their paths. */
function* schemasIn(schema: TSchema, at: string): Generator<[string, Record<string, unknown>]> {
  const node = schema as Record<string, unknown>
  yield [at, node]
  for (const [key, child] of Object.entries(fieldsOf(schema))) {
    yield* schemasIn(child, `${at}.${key}`)
  }
  for (const child of (node['anyOf'] ?? []) as TSchema[]) yield* schemasIn(child, at)
  if (node['items'] !== undefined) yield* schemasIn(node['items'] as TSchema, `${at}[]`)
}

test('every input and output compiles', () => {
  for (const { input, output } of shapes) {
    assert.doesNotThrow(() => [Compile(input), Compile(output)])
  }
})

test('inputs reject unknown fields at any depth', () => {
  for (const { name, input } of shapes) {
    for (const [at, schema] of schemasIn(input, name)) {
      if (schema['properties'] === undefined) continue
      assert.equal(schema['additionalProperties'], false, at)
    }
  }
})

test('outputs allow additional fields, so responses can grow', () => {
  for (const { name, output } of shapes) {
    for (const [at, schema] of schemasIn(output, name)) {
      assert.equal(schema['additionalProperties'], undefined, at)
    }
  }
})

test('every example is valid against its schema', () => {
  for (const { name, input, output } of shapes) {
    for (const root of [input, output]) {
      for (const [at, schema] of schemasIn(root, name)) {
        const check = Compile(schema as TSchema)
        for (const example of (schema['examples'] ?? []) as unknown[]) {
          assert.ok(check.Check(example), `${at}: ${JSON.stringify(example)}`)
        }
      }
    }
  }
})

test('every response field has a description', () => {
  for (const { name, output } of shapes) {
    for (const [at, schema] of schemasIn(output, name)) {
      if (at === name || at.endsWith('[]')) continue
      const nested = ['properties', 'anyOf', 'items'].some((key) => schema[key] !== undefined)
      const described = typeof schema['description'] === 'string' || schema['type'] === 'null'
      assert.ok(nested || described, at)
    }
  }
})

test('every list takes the page parameters, returns a page and declares invalid_cursor', () => {
  const lists = shapes.filter(({ output }) => 'next_cursor' in fieldsOf(output))
  assert.deepEqual(
    lists.map(({ name }) => name),
    shapes.filter(({ input }) => 'cursor' in input.properties).map(({ name }) => name),
  )
  assert.deepEqual(
    lists.map(({ name }) => name),
    shapes.filter(({ paged }) => paged).map(({ name }) => name),
  )
  assert.equal(lists.length, 16)
  for (const { name, problems, input } of lists) {
    assert.ok(problems?.includes('invalid_cursor'), name)
    for (const field of [
      'limit',
      'order',
      'created_gt',
      'created_gte',
      'created_lt',
      'created_lte',
    ])
      assert.ok(field in input.properties, `${name} ${field}`)
  }
})

test('every field that is shown only once is nullable in the response', () => {
  for (const { name, output, shown_once = [] } of shapes) {
    for (const field of shown_once) {
      const schema = fieldsOf(output)[field]
      assert.ok(schema !== undefined && Compile(schema).Check(null), `${name}.${field}`)
    }
  }
  const once = shapes.filter(({ shown_once }) => shown_once !== undefined)
  assert.deepEqual(
    once.map(({ name }) => name),
    ['create_account', 'enable_2fa', 'create_api_key', 'create_webhook', 'update_webhook'],
  )
})

test('only sign_in and reveal_pan are never stored for replay', () => {
  const never = shapes.filter(({ never_stored }) => never_stored)
  assert.deepEqual(
    never.map(({ name }) => name),
    ['sign_in', 'reveal_pan'],
  )
})

test('operations declare the events that the specification assigns to them', () => {
  const emits = shapes.filter((shape) => shape.emits !== undefined)
  assert.deepEqual(Object.fromEntries(emits.map((shape) => [shape.name, shape.emits])), {
    create_account: ['account.created'],
    sign_in: ['account.signed_in'],
    create_topup: ['topup.created'],
    issue_card: ['card.issued', 'card.loaded'],
    replace_card: ['card.issued', 'card.cancelled'],
    load_card: ['card.loaded'],
    freeze_card: ['card.frozen'],
    cancel_card: ['card.cancelled'],
    file_dispute: ['dispute.opened'],
    decide_approval: ['approval.decided'],
  })
})

test('operations that cannot be undone are marked destructive', () => {
  const destructive = shapes.filter((shape) => shape.destructive).map(({ name }) => name)
  assert.deepEqual(destructive, [
    'disable_2fa',
    'revoke_api_key',
    'cancel_topup',
    'reveal_pan',
    'replace_card',
    'cancel_card',
    'withdraw',
    'delete_webhook',
    'reset_password',
    'revoke_session',
  ])
})

test('every declared error code has a status and is declared once', () => {
  for (const { name, problems = [] } of shapes) {
    assert.equal(new Set(problems).size, problems.length, name)
    for (const code of problems) assert.ok(problem_statuses[code] >= 400, `${name} ${code}`)
  }
})

test('every amount in a request declares its maximum decimal places', () => {
  for (const { name, input } of shapes) {
    for (const [at, schema] of schemasIn(input, name)) {
      if (schema['type'] !== 'number') continue
      const six = name === 'withdraw' || /amount_[gl]te$/.test(at)
      assert.equal(schema['x-decimals'], six ? 6 : 2, at)
    }
  }
})
