import assert from 'node:assert/strict'
import { request } from 'node:http'
import { describe, test } from 'node:test'
import { operations } from '#contract/operations.ts'
import { send } from '#test/support/http.ts'
import { callTool, rpc } from '#test/support/mcp.ts'
import { createKey, openAccount, PASSWORD, type Person } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const OPERATION_COUNT = Object.keys(operations).length

const { url } = await startTestService()
const person: Person = await openAccount(url)
const { key } = await createKey(url, person.bearer)

const hello = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 't', version: '1' },
}

describe('the protocol', () => {
  test('answers initialize with the revision of the client, or with 2025-06-18', async () => {
    for (const [asked, answered] of [
      ['2025-06-18', '2025-06-18'],
      ['2025-11-25', '2025-11-25'],
      ['2031-01-01', '2025-06-18'],
      ['2025-03-26', '2025-03-26'],
    ]) {
      const reply = await rpc(
        url,
        'initialize',
        { ...hello, protocolVersion: asked },
        { bearer: key },
      )
      assert.equal(reply.status, 200, reply.text)
      const result = reply.body['result'] as Record<string, unknown>
      assert.equal(result['protocolVersion'], answered)
      assert.deepEqual(result['capabilities'], { tools: {}, resources: {}, prompts: {} })
      assert.deepEqual((result['serverInfo'] as { version: string }).version, '0.4.0')
      assert.equal(reply.headers.get('mcp-session-id'), null)
    }
  })

  test('takes a notification with 202 and no body', async () => {
    const reply = await rpc(url, 'notifications/initialized', {}, { bearer: key, id: null })
    assert.equal(reply.status, 202)
    assert.equal(reply.text, '')
  })

  test('refuses batches, broken JSON and what is no message, as the protocol says', async () => {
    const post = (raw: string) =>
      send(url, 'POST', '/mcp', {
        bearer: key,
        raw,
        headers: {
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
        },
      })
    for (const [raw, code] of [
      ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32_600],
      ['{"jsonrpc":"2.0","id":1', -32_700],
      ['{"id":1,"method":"ping"}', -32_600],
      ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32_600],
      ['{"jsonrpc":"2.0","id":null,"method":"tools/call"}', -32_600],
      ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32_600],
      ['"ping"', -32_600],
    ] as const) {
      const reply = await post(raw)
      assert.equal(reply.status, 400, raw)
      assert.equal((reply.body['error'] as unknown as { code: number }).code, code, raw)
    }
  })

  test('tells an unknown method, tool, prompt and resource apart from a failed call', async () => {
    for (const [method, params, code] of [
      ['tools/nothing', {}, -32_601],
      ['tools/call', { name: 'no_such_tool', arguments: {} }, -32_602],
      ['tools/call', { name: 'constructor', arguments: {} }, -32_602],
      ['prompts/get', { name: 'nothing' }, -32_602],
      ['resources/read', { uri: 'florin://nothing' }, -32_002],
    ] as const) {
      const reply = await rpc(url, method, params, { bearer: key })
      assert.equal(reply.status, 200)
      assert.equal((reply.body['error'] as unknown as { code: number }).code, code, method)
    }
  })

  test('refuses a cursor, which none of its lists gives, and a resource without a URI', async () => {
    const codeOf = async (method: string, params: object) => {
      const { body } = await rpc(url, method, params, { bearer: key })
      return (body['error'] as { code: number } | undefined)?.code
    }
    for (const kind of ['tools', 'resources', 'resources/templates', 'prompts']) {
      assert.equal(await codeOf(`${kind}/list`, { cursor: 'next' }), -32_602, kind)
      assert.equal(await codeOf(`${kind}/list`, { cursor: null }), undefined, kind)
    }
    assert.equal(await codeOf('resources/read', {}), -32_602)
  })

  test('reads media types in any case', async () => {
    const accept = 'Application/JSON, Text/Event-Stream'
    const params = { name: 'get_account', arguments: {}, _meta: { progressToken: 1 } }
    const reply = await rpc(url, 'tools/call', params, { bearer: key, headers: { accept } })
    assert.equal(reply.status, 200)
    assert.equal(reply.headers.get('content-type'), 'text/event-stream')
  })

  test('refuses other methods, types and revisions, and says what works', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const reply = await send(url, method, '/mcp', { bearer: key })
      assert.equal(reply.status, 405, method)
      assert.equal(reply.headers.get('allow'), 'POST')
    }
    const json_only = await rpc(
      url,
      'ping',
      {},
      { bearer: key, headers: { accept: 'application/json' } },
    )
    assert.equal(json_only.status, 406)
    const version = { 'mcp-protocol-version': '1999-01-01' }
    assert.equal((await rpc(url, 'ping', {}, { bearer: key, headers: version })).status, 400)
    const known = { 'mcp-protocol-version': '2025-11-25' }
    assert.equal((await rpc(url, 'ping', {}, { bearer: key, headers: known })).status, 200)
    const form = { 'content-type': 'text/plain' }
    assert.equal((await rpc(url, 'ping', {}, { bearer: key, headers: form })).status, 415)
  })

  test('knows its own name in any case and with the default port, and no other', async () => {
    const named = await startTestService({ env: { FLORIN_PUBLIC_URL: 'https://pay.example' } })
    const statusFor = (host: string) =>
      new Promise((resolve, reject) => {
        const sent = { method: 'POST', headers: { host } }
        const post = request(`${named.url}/mcp`, sent, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
        post.on('error', reject).end()
      })
    for (const host of ['pay.example', 'Pay.Example', 'pay.example:443']) {
      assert.equal(await statusFor(host), 401, host)
    }
    for (const host of ['pay.example:80', 'pay.example.evil.example', 'a@pay.example']) {
      assert.equal(await statusFor(host), 403, host)
    }
  })

  test('refuses pages of other origins and names that are not its own', async () => {
    const evil = { origin: 'https://evil.example' }
    assert.equal((await rpc(url, 'ping', {}, { bearer: key, headers: evil })).status, 403)
    const local = { origin: 'http://localhost:6274' }
    const allowed = await rpc(url, 'ping', {}, { bearer: key, headers: local })
    assert.equal(allowed.status, 200)
    assert.equal(allowed.headers.get('access-control-allow-origin'), 'http://localhost:6274')
    const status = await new Promise((resolve, reject) => {
      const headers = { host: 'evil.example', authorization: `Bearer ${key}` }
      request(`${url}/mcp`, { method: 'POST', headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .on('error', reject)
        .end()
    })
    assert.equal(status, 403)
  })
})

describe('who may ask', () => {
  test('without a bearer everything is 401 with the way to a token, initialize too', async () => {
    for (const method of ['initialize', 'ping', 'tools/list', 'tools/call', 'no/method']) {
      const reply = await rpc(url, method, { ...hello, name: 'get_account' })
      assert.equal(reply.status, 401, method)
      const header = reply.headers.get('www-authenticate') ?? ''
      assert.match(header, /^Bearer resource_metadata="[^"]+\/oauth-protected-resource\/mcp"/)
      assert.match(header, /scope="account:read balance:read/)
      assert.doesNotMatch(header, /error=/)
    }
    const wrong = await rpc(url, 'initialize', hello, { bearer: 'x'.repeat(43) })
    assert.equal(wrong.status, 401)
    assert.match(wrong.headers.get('www-authenticate') ?? '', /error="invalid_token"/)
  })

  test('a stranger can open an account and sign in, and call nothing else', async () => {
    const email = `agent_${person.account_id}@example.com`
    const opened = await callTool(url, 'create_account', { email, password: PASSWORD })
    assert.equal(opened.isError, undefined)
    const bearer = String(opened.structuredContent['bearer'])
    assert.equal((await callTool(url, 'get_account', {}, bearer)).structuredContent['email'], email)
    const wrong = await callTool(url, 'sign_in', { email, password: 'not the password' })
    assert.equal(wrong.isError, true)
    assert.equal(wrong.structuredContent['error'], 'invalid_credentials')
  })

  test('lists the tools that the credential may call, and only those', async () => {
    const names = async (bearer: string) => {
      const { body } = await rpc(url, 'tools/list', {}, { bearer })
      const { tools } = body['result'] as { tools: { name: string }[] }
      return tools.map(({ name }) => name)
    }
    const all = Object.keys(operations)
    const session_only = ['sign_out', 'enable_2fa', 'disable_2fa', 'decide_approval']
    assert.deepEqual(
      await names(key),
      all.filter((name) => !session_only.includes(name)),
    )
    assert.deepEqual(
      await names(person.bearer),
      all.filter((name) => name !== 'reveal_pan'),
    )
  })
})

describe('tools', () => {
  test('do what the operation does, with the same refusals and the same bodies', async () => {
    const rest = await send(url, 'GET', '/v1/accounts/me', { bearer: key })
    const tool = await callTool(url, 'get_account', {}, key)
    assert.deepEqual(tool.structuredContent, rest.body)
    assert.deepEqual(JSON.parse(tool.content[0]?.text ?? ''), rest.body)

    const refused = await callTool(url, 'get_account', { wrong: 1 }, key)
    assert.equal(refused.isError, true)
    assert.equal(refused.structuredContent['error'], 'unknown_parameter')
    assert.match(String(refused.structuredContent['request_id']), /^req_/)
    assert.deepEqual(JSON.parse(refused.content[0]?.text ?? ''), refused.structuredContent)
    assert.match(refused.content[1]?.text ?? '', /unknown parameter/, 'says what to do')
    assert.equal(tool.content.length, 1)

    const denied = await callTool(url, 'enable_2fa', {}, key)
    assert.equal(denied.structuredContent['error'], 'credential_not_allowed')
  })

  test('do a write once under one idempotency_key', async () => {
    const given = { name: 'once', idempotency_key: 'agent-1' }
    const first = await callTool(url, 'create_api_key', given, person.bearer)
    const again = await callTool(url, 'create_api_key', given, person.bearer)
    assert.equal(again.structuredContent['id'], first.structuredContent['id'])
    assert.equal(again.structuredContent['key'], null)
    assert.equal(again._meta?.['florin/idempotent_replayed'], true)
    const other = await callTool(url, 'create_api_key', { ...given, name: 'other' }, person.bearer)
    assert.equal(other.structuredContent['error'], 'idempotency_key_reused')
    const number = await callTool(url, 'create_api_key', { idempotency_key: 7 }, person.bearer)
    assert.equal(number.structuredContent['error'], 'invalid_request')
  })

  test('name their arguments in errors, not the headers and parameters of REST', async () => {
    const refusalOf = async (name: string, given: object) => {
      const { structuredContent, content } = await callTool(url, name, given, key)
      const [body, advice] = content.map(({ text }) => text)
      assert.deepEqual(JSON.parse(body ?? ''), structuredContent)
      const { message, details } = structuredContent as { message: string; details?: object[] }
      return { message, details, advice }
    }
    const idempotency_key = 'agent-2'
    await callTool(url, 'create_api_key', { name: 'one', idempotency_key }, key)
    const reused = await refusalOf('create_api_key', { name: 'two', idempotency_key })
    assert.match(reused.message, /^This idempotency_key was used for a different request/)
    const spaced = await refusalOf('create_api_key', { idempotency_key: 'a b' })
    assert.match(spaced.message, /^idempotency_key must be 1 to 255/)
    assert.equal((await refusalOf('get_account', { wrong: 1 })).message, 'Unknown argument: wrong.')

    const card = await callTool(url, 'issue_card', { type: 'virtual' }, key)
    const { id } = card.structuredContent
    await callTool(url, 'reveal_pan', { id }, key)
    const revealed = await refusalOf('reveal_pan', { id })
    assert.match(revealed.message, /Send a new reveal_nonce to see it again/)
    assert.match(revealed.advice ?? '', /Send a new `reveal_nonce`/)
    const nonce = await refusalOf('reveal_pan', { id, reveal_nonce: 'x' })
    const details = [{ field: 'reveal_nonce', message: 'must be a UUID' }]
    assert.deepEqual([nonce.message, nonce.details], ['reveal_nonce must be a UUID.', details])
  })

  test('name an unknown argument as it was sent, also if it is a header of REST', async () => {
    const refused = await callTool(url, 'create_api_key', { 'Idempotency-Key': 'one' }, key)
    const { message, details } = refused.structuredContent
    assert.equal(message, 'Idempotency-Key is not recognized.')
    assert.deepEqual(details, [{ field: 'Idempotency-Key', message: 'is not recognized' }])
  })

  test('that answer with nothing answer with an empty object', async () => {
    const made = await callTool(url, 'create_api_key', {}, person.bearer)
    const gone = await callTool(url, 'revoke_api_key', { id: made.structuredContent['id'] }, key)
    assert.equal(gone.isError, undefined)
    assert.deepEqual(gone.structuredContent, {})
  })

  test('send progress notifications if requested, then the result', async () => {
    const params = { name: 'get_account', arguments: {}, _meta: { progressToken: 'p1' } }
    const reply = await rpc(url, 'tools/call', params, { bearer: key })
    assert.equal(reply.status, 200)
    assert.equal(reply.headers.get('content-type'), 'text/event-stream')
    for (const name of ['request-id', 'ratelimit-policy', 'ratelimit']) {
      assert(reply.headers.get(name), name)
    }
    const messages = reply.text
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice(6)) as Record<string, never>)
    const progress = messages.slice(0, -1).map(({ params }) => params?.['progress'])
    assert.deepEqual(progress, [1, 2, 3])
    assert.equal(messages.at(-1)?.['id'], 1)
    assert.equal(messages.at(-1)?.['result']?.['structuredContent']?.['id'], person.account_id)
  })
})

describe('what helps an agent', () => {
  test('the error table and the limits can be read as resources', async () => {
    const { body } = await rpc(url, 'resources/list', {}, { bearer: key })
    const { resources } = body['result'] as { resources: { uri: string }[] }
    assert.deepEqual(
      resources.map(({ uri }) => uri),
      ['florin://errors', 'florin://limits', 'mcp://server-card.json'],
    )
    const read = async (uri: string) => {
      const reply = await rpc(url, 'resources/read', { uri }, { bearer: key })
      return (reply.body['result'] as { contents: { text: string }[] }).contents[0]?.text ?? ''
    }
    assert.match(await read('florin://errors'), /\| insufficient_balance \| 409 \|/)
    assert.equal(JSON.parse(await read('florin://limits')).spend_limits.topup_min_usd, 5)
    assert.equal(JSON.parse(await read('mcp://server-card.json')).tools.length, OPERATION_COUNT)
  })

  test('prompts name their arguments and insist on the required ones', async () => {
    const { body } = await rpc(url, 'prompts/list', {}, { bearer: key })
    const { prompts } = body['result'] as { prompts: { name: string }[] }
    assert.deepEqual(
      prompts.map(({ name }) => name),
      [
        'fund_and_issue_a_card',
        'card_for_a_purchase',
        'reconcile_a_month',
        'why_was_this_declined',
      ],
    )
    const name = 'fund_and_issue_a_card'
    const bare = await rpc(url, 'prompts/get', { name }, { bearer: key })
    assert.equal((bare.body['error'] as unknown as { code: number }).code, -32_602)
    const given = { name, arguments: { amount_usd: '50', daily_limit_usd: '20' } }
    const got = await rpc(url, 'prompts/get', given, { bearer: key })
    assert.match(got.text, /limits\.daily_usd 20/)
  })

  test('an optional argument of a prompt that is empty counts as absent', async () => {
    const textOf = async (given: object) => {
      const params = { name: 'fund_and_issue_a_card', arguments: given }
      return (await rpc(url, 'prompts/get', params, { bearer: key })).text
    }
    const absent = await textOf({ amount_usd: '50' })
    assert.match(absent, /loaded with 50 USD/)
    assert.equal(await textOf({ amount_usd: '50', daily_limit_usd: '' }), absent)
  })

  test('the server card lists all tools and may be read from anywhere', async () => {
    const reply = await send(url, 'GET', '/.well-known/mcp/server-card.json')
    assert.equal(reply.status, 200)
    assert.equal(reply.headers.get('access-control-allow-origin'), '*')
    assert.equal(reply.headers.get('cache-control'), 'public, max-age=3600')
    const card = reply.body as Record<string, unknown>
    assert.equal(card['version'], '1.0')
    assert.equal(card['protocolVersion'], '2025-06-18')
    assert.deepEqual(card['transport'], { type: 'streamable-http', endpoint: '/mcp' })
    assert.equal((card['tools'] as unknown[]).length, OPERATION_COUNT)
    assert.equal((card['_meta'] as Record<string, unknown>)['florin/mode'], 'sandbox')
  })
})
