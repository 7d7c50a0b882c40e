import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inputLocation, type OperationShape, pathNames } from '#contract/operation.ts'
import { assertRefused } from '#test/support/calls.ts'
import { bodyOf, pathOf, queryOf, shapes } from '#test/support/contract.ts'
import { send } from '#test/support/http.ts'
import { createKey, openAccount } from '#test/support/people.ts'
import { rowCounts } from '#test/support/row_counts.ts'
import { startTestService } from '#test/support/start.ts'

const { url, runtime, tasks } = await startTestService()
const ada = await openAccount(url)
const { key } = await createKey(url, ada.bearer)
// The first use of a key writes rows, which must not be counted below.
await send(url, 'GET', '/v1/accounts/me', { bearer: key })
await tasks.runAll()

const bearerFor = ({ access }: OperationShape) => {
  if (access === 'anyone') return undefined
  return access.session ? ada.bearer : key
}

const addressOf = (operation: OperationShape, more = '') => {
  const query = queryOf(operation)
  return `${pathOf(operation)}${query}${more === '' ? '' : `${query === '' ? '?' : '&'}${more}`}`
}

/** Operations whose refusals the contract requires to be audited write that much. */
async function counted({ refusals_audited_as }: OperationShape) {
  const { audit_entries, ...others } = await rowCounts(runtime.db)
  return refusals_audited_as === undefined ? { ...others, audit_entries } : others
}

const fieldsIn = (body: Record<string, unknown>) =>
  (body['details'] as { field: string }[] | undefined)?.map(({ field }) => field) ?? []

for (const operation of shapes) {
  const bearer = bearerFor(operation)
  const ask = (path: string, sent: { body?: unknown; raw?: string } = {}) =>
    send(url, operation.method, path, { bearer, ...sent })

  if (inputLocation(operation) === 'body') {
    test(`${operation.name}: an unknown field, a wrong body and a query are refused, none written`, async () => {
      const before = await counted(operation)
      const unknown = await ask(addressOf(operation), { body: { ...bodyOf(operation), zzz: 1 } })
      assertRefused(unknown, 400, 'invalid_request')
      assert.deepEqual(fieldsIn(unknown.body), ['zzz'])
      for (const raw of ['[]', '5', 'null', '"text"', '[{}]']) {
        assertRefused(await ask(addressOf(operation), { raw }), 400, 'invalid_request')
      }
      for (const raw of ['{', '{"a":1,"a":2}', '{"a":}', 'x', '{} {}', `${'['.repeat(200)}`]) {
        assertRefused(await ask(addressOf(operation), { raw }), 400, 'invalid_json')
      }
      const query = await ask(addressOf(operation, 'zzz=1'), { body: bodyOf(operation) })
      assertRefused(query, 400, 'unknown_parameter')
      assert.deepEqual(fieldsIn(query.body), ['zzz'])
      for (const name of pathNames(operation.path)) {
        const twice = await ask(addressOf(operation), {
          body: { ...bodyOf(operation), [name]: 'x' },
        })
        assertRefused(twice, 400, 'invalid_request')
        assert.deepEqual(fieldsIn(twice.body), [name])
      }
      for (const field of Object.keys(operation.input.properties)) {
        if (pathNames(operation.path).includes(field)) continue
        const wrong = await ask(addressOf(operation), {
          body: { ...bodyOf(operation), [field]: { '\u0000': 'a\u0000b' } },
        })
        assertRefused(wrong, 400, 'invalid_request')
        const text = await ask(addressOf(operation), {
          body: { ...bodyOf(operation), [field]: 'a\u0000b' },
        })
        assertRefused(text, 400, 'invalid_request')
      }
      assert.deepEqual(await counted(operation), before)
    })
  } else {
    test(`${operation.name}: an unknown, a doubled and an unholdable parameter are refused`, async () => {
      const before = await counted(operation)
      const unknown = await ask(addressOf(operation, 'zzz=1'))
      assertRefused(unknown, 400, 'unknown_parameter')
      assert.deepEqual(fieldsIn(unknown.body), ['zzz'])
      assertRefused(await ask(addressOf(operation, '__proto__=1')), 400, 'unknown_parameter')
      for (const field of Object.keys(operation.input.properties)) {
        if (pathNames(operation.path).includes(field) || queryOf(operation).includes(field))
          continue
        const twice = await ask(addressOf(operation, `${field}=1&${field}=1`))
        assertRefused(twice, 400, 'invalid_request')
        const nulls = await ask(addressOf(operation, `${field}=a%00b`))
        assertRefused(nulls, 400, 'invalid_request')
      }
      assert.deepEqual(await counted(operation), before)
    })
  }

  if (pathNames(operation.path).length > 0) {
    test(`${operation.name}: a malformed ID in the path is a 404, and a 400 if it is not UTF-8`, async () => {
      const before = await counted(operation)
      const absurd = ['a%00b', '%F0%9F%98%80', "'%20or%201=1--", '..%2f..', '-1', 'x'.repeat(999)]
      for (const id of [...absurd, '%ff', 'null', '0'.repeat(26), '%20']) {
        const path = `/v1${operation.path.replaceAll(/\{\w+\}/g, id)}`
        const body = inputLocation(operation) === 'body' ? { body: bodyOf(operation) } : {}
        const reply = await ask(path + queryOf(operation), body)
        assert.equal(reply.status, id === '%ff' ? 400 : 404, `${id}: ${reply.text}`)
        assert.equal(reply.body['error'], id === '%ff' ? 'invalid_request' : 'not_found')
        assert.match(reply.headers.get('request-id') ?? '', /^req_/, `${id}: ${reply.text}`)
      }
      assert.deepEqual(await counted(operation), before)
    })
  }
}
