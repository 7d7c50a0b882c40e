import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '#contract/operations.ts'
import { operator_operations } from '#contract/operator/operations.ts'
import { openHolder } from '#test/support/cards.ts'
import { type Reply, type RequestOptions, send } from '#test/support/http.ts'
import { rpc } from '#test/support/mcp.ts'
import { OPERATOR_TOKEN } from '#test/support/operator.ts'
import { startTestService } from '#test/support/start.ts'

/**
 * Every JavaScript object has these members without anybody having put them there, so a look-up
 * by a name that the caller chose finds something. Each goes wherever a caller may put a name.
 */
const NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'] as const

const service = await startTestService({
  env: { FLORIN_PROCESSORS: JSON.stringify({ acme: 'a secret that is long enough to be one' }) },
})
const { url } = service
const { key } = await openHolder(service, 100)

async function ask(method: string, path: string, sent: RequestOptions = {}): Promise<Reply> {
  const reply = await send(url, method, path, sent)
  assert(reply.status < 500, `${method} ${path} answered ${reply.status} ${reply.text}`)
  return reply
}

const filled = (path: string, name: string) => path.replaceAll(/\{\w+\}/g, name)

type Shape = {
  method: string
  path: string
  input: { properties: Readonly<Record<string, unknown>> }
}

/** The name as every value, and once as a key, as in JSON. */
function bodyOf({ input }: Shape, name: string): string {
  const given = Object.keys(input.properties).map((field) => `"${field}":"${name}"`)
  return `{${[...given, `"${name}":"${name}"`].join(',')}}`
}

async function driveShape(base: string, shape: Shape, bearer: string): Promise<void> {
  for (const name of NAMES) {
    const path = base + filled(shape.path, name)
    if (shape.method === 'GET') {
      await ask('GET', `${path}?${name}=1`, { bearer })
      for (const field of Object.keys(shape.input.properties)) {
        await ask('GET', `${path}?${field}=${name}`, { bearer })
      }
    } else {
      await ask(shape.method, path, { bearer, raw: bodyOf(shape, name) })
      await ask(shape.method, path, { bearer, raw: `{"${name}":{}}` })
    }
  }
}

test('no operation fails over a name that every object inherits', async () => {
  for (const shape of Object.values(operations)) await driveShape('/v1', shape as Shape, key)
})

test('no operator operation fails over a name that every object inherits', async () => {
  for (const operation of Object.values(operator_operations)) {
    await driveShape('/operator/v1', operation as Shape, OPERATOR_TOKEN)
  }
})

for (const name of NAMES) {
  test(`${name} is not a processor, page, file or route`, async () => {
    const headers = { 'processor-signature': `t=1,v1=${'0'.repeat(64)}` }
    const signed = { headers, body: {} }
    const called = await ask('POST', `/processor/${name}/authorizations`, signed)
    assert.equal(called.status, 404, called.text)
    for (const path of ['authorizations', 'threeds']) {
      const reply = await ask('POST', `/processor/${name}/${path}`, { body: {} })
      assert.equal(reply.status, 404, reply.text)
    }
    assert.equal((await ask('GET', `/processor/${name}/threeds/${name}`, { headers })).status, 404)
    for (const path of ['/docs', '/v1', '/oauth', '/operator/v1', '/sandbox/v1', '/three_ds']) {
      assert.equal((await ask('GET', `${path}/${name}`, { bearer: key })).status, 404, path)
    }
    await ask('GET', `/files/disputes/${name}/evidence/${name}`, { bearer: key })
    await ask('GET', `/${name}`)
    await ask('POST', `/sandbox/v1/cards/${name}/authorize`, { bearer: key, body: { [name]: 1 } })
    await ask('POST', '/sandbox/v1/network/faults', { bearer: key, body: { fault: name } })
  })

  test(`${name} is not a method, tool, prompt or resource of the MCP server`, async () => {
    const asked: [string, object][] = [
      [name, {}],
      ['tools/call', { name, arguments: {} }],
      ['tools/call', { name: 'get_balance', arguments: JSON.parse(`{"${name}":"x"}`) }],
      ['prompts/get', { name, arguments: JSON.parse(`{"${name}":"x"}`) }],
      ['resources/read', { uri: name }],
      ['completion/complete', { ref: { type: 'ref/prompt', name }, argument: { name, value: '' } }],
      ['logging/setLevel', { level: name }],
    ]
    for (const [method, params] of asked) {
      const { status, text } = await rpc(url, method, params, { bearer: key })
      assert(status < 500 && !text.includes('"code":-32603'), `${method}: ${status} ${text}`)
    }
  })

  test(`${name} is not a parameter value of the authorization server`, async () => {
    const words = ['grant_type', 'client_id', 'scope', 'resource', 'code', 'response_type', name]
    const form = new URLSearchParams(Object.fromEntries(words.map((word) => [word, name])))
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    await ask('POST', '/oauth/token', { raw: form.toString(), headers: type })
    await ask('POST', '/oauth/revoke', { raw: form.toString(), headers: type })
    await ask('GET', `/oauth/authorize?${form}`)
    const registered = { redirect_uris: [name], grant_types: [name], scope: name }
    await ask('POST', '/oauth/register', { body: registered })
  })
}
