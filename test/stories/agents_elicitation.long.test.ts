import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  Client as Client2,
  StreamableHTTPClientTransport as Transport2,
} from '@modelcontextprotocol/client'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { authorize, openConsent, registerAgent, startAgentService } from '#test/support/agent.ts'
import { Browser } from '#test/support/browser.ts'
import { decide } from '#test/support/budgets.ts'
import { issueCard, openHolder } from '#test/support/cards.ts'

const service = await startAgentService()
const { url } = service
const address = new URL(`${url}/mcp`)
const who = { name: 'test', version: '1' }
const capabilities = { elicitation: { url: {} } }
const versions = { supportedProtocolVersions: ['2025-11-25'] }

type Connected = {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>
  close(): Promise<void>
}

const clients: Record<string, (requestInit: RequestInit) => Promise<Connected>> = {
  '1.x': async (requestInit) => {
    const client = new Client1(who, { capabilities })
    await client.connect(new Transport1(address, { requestInit }) as never)
    return client
  },
  '2.x': async (requestInit) => {
    const client = new Client2(who, { capabilities, ...versions })
    await client.connect(new Transport2(address, { requestInit }))
    return client
  },
}

type Elicitation = { code: number; data: { elicitations: { mode: string; url: string }[] } }

for (const [line, connect] of Object.entries(clients)) {
  test(`the ${line} client is given the page of the approval, and its call then works once`, async () => {
    const holder = await openHolder(service, 200)
    const card = await issueCard(url, holder.key)
    const agent = await registerAgent(url)
    const { access_token } = await authorize(agent, holder, {
      scope: 'card:control card:read',
      scopes: ['card:control', 'card:read'],
      authorization_details: [{ type: 'spend_budget', amount_usd: 20, period: 'day' }],
    })
    const client = await connect({ headers: { authorization: `Bearer ${access_token}` } })
    const load = () =>
      client.callTool({ name: 'load_card', arguments: { id: card.id, amount_usd: 60 } })
    const refused = (await load().catch((cause: unknown) => cause)) as Elicitation
    assert.equal(refused.code, -32_042)
    const [page] = refused.data.elicitations
    assert.equal(page?.mode, 'url')
    const id = page.url.slice(`${url}/approvals/`.length)
    await decide(url, holder.bearer, { id })
    const loaded = (await load()) as { structuredContent: { card: { balance_usd: number } } }
    assert.equal(loaded.structuredContent.card.balance_usd, 60)
    const again = (await load().catch((cause: unknown) => cause)) as Elicitation
    assert.equal(again.code, -32_042)
    await client.close()
  })
  test(`the ${line} client is given the consent page for a missing scope, and its call then works`, async () => {
    const holder = await openHolder(service, 200)
    const card = await issueCard(url, holder.key)
    const agent = await registerAgent(url)
    const { access_token } = await authorize(agent, holder, {
      scope: 'card:read',
      scopes: ['card:read'],
    })
    const client = await connect({ headers: { authorization: `Bearer ${access_token}` } })
    const load = () =>
      client.callTool({ name: 'load_card', arguments: { id: card.id, amount_usd: 60 } })
    const refused = (await load().catch((cause: unknown) => cause)) as Elicitation
    assert.equal(refused.code, -32_042)
    const [page] = refused.data.elicitations
    assert.equal(page?.mode, 'url')
    const browser = new Browser(url)
    const consent = await openConsent(browser, page.url, holder)
    await browser.submit(consent, 'allow', { scope: ['card:control'] })
    const loaded = (await load()) as { structuredContent: { card: { balance_usd: number } } }
    assert.equal(loaded.structuredContent.card.balance_usd, 60)
    await client.close()
  })
}
