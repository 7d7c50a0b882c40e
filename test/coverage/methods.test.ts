import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OperationShape } from '#contract/operation.ts'
import { assertRefused } from '#test/support/calls.ts'
import { pathOf, shapes } from '#test/support/contract.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const { url } = await startTestService()
const { bearer } = await openAccount(url)

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

const by_path = new Map<string, OperationShape[]>()
for (const shape of shapes) {
  by_path.set(pathOf(shape), [...(by_path.get(pathOf(shape)) ?? []), shape])
}

/** Its response has the headers of a body but no body. */
const head = (path: string) => fetch(url + path, { method: 'HEAD' })

for (const [path, at_path] of by_path) {
  const allowed = [...new Set(at_path.map(({ method }) => method as string))]

  test(`${path}: every other method is a 405 with the Allow header`, async () => {
    for (const method of METHODS.filter((each) => !allowed.includes(each))) {
      for (const sent of [{}, { bearer }]) {
        const reply = method === 'HEAD' ? await head(path) : await send(url, method, path, sent)
        const told = (reply.headers.get('allow') ?? '').split(', ')
        assert.equal(reply.status, 405, method)
        assert.deepEqual(told.sort(), [...allowed].sort(), method)
        assert.match(reply.headers.get('request-id') ?? '', /^req_/)
        assert.ok(reply.headers.get('ratelimit-policy'))
        assert.ok(reply.headers.get('ratelimit'))
        if (reply instanceof Response) continue
        assertRefused(reply, 405, 'method_not_allowed')
      }
    }
  })
}

const elsewhere = [
  ['/sandbox/v1/topups/tup_x/deposit', ['POST']],
  ['/sandbox/v1/clock/advance', ['POST']],
  ['/operator/v1/disputes', ['GET']],
  ['/operator/v1/kill_switches/topups', ['PUT']],
  ['/operator/v1/accounts/acct_x/limits?x=1', ['PATCH']],
] as const

for (const [path, allowed] of elsewhere) {
  test(`${path}: beside the operations too, every other method is 405`, async () => {
    const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
    for (const method of others.filter((each) => !allowed.includes(each as never))) {
      const reply = await send(url, method, path, { bearer })
      assertRefused(reply, 405, 'method_not_allowed')
      assert.equal(reply.headers.get('allow'), allowed.join(', '))
    }
  })
}

test('an unknown path is a 404 with the same body and headers', async () => {
  const paths = [
    '/v1',
    '/v1/',
    '/v1/nothing',
    '/v1/accounts/you',
    '/v2/accounts/me',
    '/v1//accounts',
  ]
  const more = [
    '/V1/accounts/me',
    '/v1/accounts/me/',
    '/v1/cards/x/y/z',
    '/v1/..%2f..%2fetc',
    '/x'.repeat(900),
  ]
  for (const path of [...paths, ...more]) {
    const reply = await send(url, 'GET', path, { bearer })
    assertRefused(reply, 404, 'route_not_found')
    assert.ok(reply.headers.get('ratelimit-policy'))
    assert.ok(reply.headers.get('ratelimit'))
  }
})
