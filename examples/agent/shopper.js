// An agent that shops with MCP tools and its own card. Florin limits it to $20 a day, no matter
// what it is talked into. Needs FLORIN_URL and FLORIN_KEY of a sandbox.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const { FLORIN_URL: url = 'http://127.0.0.1:8080', FLORIN_KEY: bearer } = process.env
const headers = { authorization: `Bearer ${bearer}` }

const agent = new Client({ name: 'shopper', version: '1.0.0' })
await agent.connect(
  new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
)

async function callTool(name, input) {
  const { isError, structuredContent } = await agent.callTool({ name, arguments: input })
  if (isError) throw new Error(`${name}: ${structuredContent.message}`)
  return structuredContent
}

/** The merchant sends the card details to the card network. The sandbox simulates both. */
async function checkout(card, { merchant_name, amount }) {
  const { pan, cvv, expiry } = await callTool('reveal_pan', { id: card.id })
  console.log(`  paying with ${pan.slice(0, 6)}…${pan.slice(-4)}, ${expiry}`)
  return pay(card, { merchant_name, amount, cvv })
}

async function pay(card, purchase) {
  const response = await fetch(`${url}/sandbox/v1/cards/${card.id}/authorize`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(purchase),
  })
  return response.json()
}

const { tools } = await agent.listTools()
console.log(`the agent has ${tools.length} tools`)
const { balance_usd } = await callTool('get_balance', {})
if (balance_usd < 50)
  throw new Error('Fund the account first: examples/node/first_card.js shows how.')
const card = await callTool('issue_card', {
  type: 'virtual',
  name: 'Shopper',
  load_usd: 50,
  limits: { daily_usd: 20 },
})

console.log('buying a book for 15 dollars')
const book = await checkout(card, { merchant_name: 'Corner Books', amount: 15 })
console.log(`  ${book.type}: ${book.status}`)

console.log('buying a lamp for 15 dollars')
const lamp = await pay(card, { merchant_name: 'Bright Things', amount: 15 })
const { decline_code } = await callTool('get_transaction', { id: lamp.id })
console.log(`  ${lamp.type}: ${decline_code}`)

const { limits } = await callTool('get_card', { id: card.id })
console.log(`spent ${limits.spent.daily_usd} of ${limits.daily_usd} dollars today`)
await agent.close()
