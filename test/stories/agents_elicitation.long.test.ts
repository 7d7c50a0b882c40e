import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  Client as Client2,
  StreamableHTTPClientTransport as Transport2,
} from '#test/packages/mcp_client.ts'
import {
  Client as Client1,
  StreamableHTTPClientTransport as Transport1,
} from '#test/packages/mcp_sdk.ts'
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

type ConnectedClient = {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>
  close(): Promise<void>
}

type Connect = (requestInit: RequestInit) => Promise<ConnectedClient>

const clients: Record<string, Connect> = {
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

/** An agent whose call to load a card with 60 dollars is refused with the address of a page. */
async function refusedAgent(connect: Connect, grant: Parameters<typeof authorize>[2]) {
  const holder = await openHolder(service, 200)
  const card = await issueCard(url, holder.key)
  const { access_token } = await authorize(await registerAgent(url), holder, grant)
  const client = await connect({ headers: { authorization: `Bearer ${access_token}` } })
  const load = () =>
    client.callTool({ name: 'load_card', arguments: { id: card.id, amount_usd: 60 } })
  const refusedPage = async () => {
    const refused = (await load().catch((cause: unknown) => cause)) as Elicitation
    assert.equal(refused.code, -32_042)
    const [page] = refused.data.elicitations
    assert.equal(page?.mode, 'url')
    return page.url
  }
  const assertLoads = async () => {
    const loaded = (await load()) as { structuredContent: { card: { balance_usd: number } } }
    assert.equal(loaded.structuredContent.card.balance_usd, 60)
  }
  return { client, holder, page_url: await refusedPage(), refusedPage, assertLoads }
}

for (const [line, connect] of Object.entries(clients)) {
  test(`the ${line} client is given the page of the approval, and its call then works once`, async () => {
    const { client, holder, page_url, refusedPage, assertLoads } = await refusedAgent(connect, {
      scope: 'card:control card:read',
      scopes: ['card:control', 'card:read'],
      authorization_details: [{ type: 'spend_budget', amount_usd: 20, period: 'day' }],
    })
    await decide(url, holder.bearer, { id: page_url.slice(`${url}/approvals/`.length) })
    await assertLoads()
    assert.notEqual(await refusedPage(), page_url)
    await client.close()
  })
  test(`the ${line} client is given the consent page for a missing scope, and its call then works`, async () => {
    const { client, holder, page_url, assertLoads } = await refusedAgent(connect, {
      scope: 'card:read',
      scopes: ['card:read'],
    })
    const browser = new Browser(url)
    const consent = await openConsent(browser, page_url, holder)
    await browser.submit(consent, 'allow', { scope: ['card:control'] })
    await assertLoads()
    await client.close()
  })
}
