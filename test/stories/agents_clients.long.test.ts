import assert from 'node:assert/strict'
import { test } from 'node:test'
import { default_scopes } from '#contract/scopes.ts'
import {
  Client as Client2,
  type OAuthClientProvider as Provider2,
  StreamableHTTPClientTransport as Transport2,
  UnauthorizedError as Unauthorized2,
} from '#test/packages/mcp_client.ts'
import {
  Client as Client1,
  type OAuthClientProvider as Provider1,
  StreamableHTTPClientTransport as Transport1,
  UnauthorizedError as Unauthorized1,
} from '#test/packages/mcp_sdk.ts'
import { startAgentService } from '#test/support/agent.ts'
import { agentMemory } from '#test/support/agent_memory.ts'
import { openHolder } from '#test/support/cards.ts'

const service = await startAgentService()
const { url } = service
const address = new URL(`${url}/mcp`)
const holder = await openHolder(service, 100)
const METHODS = ['none', 'client_secret_basic', 'client_secret_post']
const who = { name: 'test', version: '1' }

type Result = { isError?: boolean; structuredContent?: Record<string, unknown> }

async function useWhatIsThere(client: Client1): Promise<void> {
  const { tools } = await client.listTools()
  assert(tools.some(({ name }) => name === 'list_cards'))
  const account = (await client.callTool({ name: 'get_account', arguments: {} })) as Result
  assert.equal(account.structuredContent?.['id'], holder.account_id)
  const unknown = { name: 'get_card', arguments: { id: 'card_01kc3z8e5xf8m9r4t2v6w7y8za' } }
  const refused = (await client.callTool(unknown)) as Result
  assert.equal(refused.isError, true)
  assert.equal(refused.structuredContent?.['error'], 'not_found')
  const steps: number[] = []
  await client.callTool({ name: 'get_limits', arguments: {} }, undefined, {
    onprogress: ({ progress }) => steps.push(progress),
  })
  assert.deepEqual(steps, [1, 2, 3])
  const { resources } = await client.listResources()
  assert.equal(resources.length, 3)
  const { messages } = await client.getPrompt({ name: 'why_was_this_declined', arguments: {} })
  assert.equal(messages.length, 1)
}

for (const method of METHODS) {
  test(`the 1.x client comes from 401 to a paid-for card by stepping up, by ${method}`, async () => {
    // With a refresh token at hand this line refreshes where it should ask: it must not keep one.
    const { provider, seen } = agentMemory(url, holder, { method, keeps_refresh: false })
    const options = { authProvider: provider as unknown as Provider1 }
    const first = new Transport1(address, options)
    await assert.rejects(new Client1(who).connect(first as never), Unauthorized1)
    assert.deepEqual(seen.scope?.split(' '), default_scopes)
    await first.finishAuth(String(seen.callback?.searchParams.get('code')))

    const client = new Client1(who)
    const transport = new Transport1(address, options)
    await client.connect(transport as never)
    await useWhatIsThere(client)
    const wish = { name: 'issue_card', arguments: { type: 'virtual', load_usd: 5 } }
    await assert.rejects(client.callTool(wish), Unauthorized1)
    await transport.finishAuth(String(seen.callback?.searchParams.get('code')))
    const issued = (await client.callTool(wish)) as Result
    assert.equal(issued.structuredContent?.['balance_usd'], 5)
    await client.close()
  })

  test(`the 2.x client comes from 401 to a paid-for card by stepping up, by ${method}`, async () => {
    const { provider, seen } = agentMemory(url, holder, { method })
    const options = { authProvider: provider as unknown as Provider2 }
    const first = new Transport2(address, options)
    const versions = { supportedProtocolVersions: ['2025-11-25', '2025-06-18', '2025-03-26'] }
    await assert.rejects(new Client2(who, versions).connect(first), Unauthorized2)
    assert(seen.callback !== null)
    await first.finishAuth(seen.callback.searchParams)

    const client = new Client2(who, versions)
    const transport = new Transport2(address, options)
    await client.connect(transport)
    const { tools } = await client.listTools()
    assert.equal(
      tools.some(({ name }) => name === 'issue_card'),
      false,
    )

    const wish = { name: 'issue_card', arguments: { type: 'virtual', load_usd: 5 } }
    await assert.rejects(client.callTool(wish), Unauthorized2)
    assert(seen.scope?.split(' ').includes('card:issue'), String(seen.scope))
    assert(seen.scope?.split(' ').includes('account:read'), 'what it held stays among them')
    await transport.finishAuth(seen.callback.searchParams)
    const issued = (await client.callTool(wish)) as Result
    assert.equal(issued.isError, undefined, JSON.stringify(issued.structuredContent))
    assert.equal(issued.structuredContent?.['balance_usd'], 5)
    await client.close()
  })
}
