// A shopper: one single-use card per purchase, loaded with its price. After the purchase, the card
// number is worth nothing to the shop or to anyone who steals it.
import { key, runAgent, scripted, url } from './agent.js'

/** The shop sends the card to the card network. The sandbox simulates both. */
async function checkout({ card_id, cvv, shop, price_usd }) {
  const response = await fetch(`${url}/sandbox/v1/cards/${card_id}/authorize`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ merchant_name: shop, amount: price_usd, cvv }),
  })
  return response.json()
}

function* buyBook() {
  const price_usd = 15
  const card = yield {
    tool: 'issue_card',
    input: { type: 'virtual', name: 'A book', usage: 'single_use', load_usd: price_usd },
  }
  if (card.error) return `No card: ${card.message}`
  const { cvv } = yield { tool: 'reveal_pan', input: { id: card.id } }
  const order = { card_id: card.id, shop: 'Corner Books', price_usd }
  const bought = yield { tool: 'checkout', input: { ...order, cvv } }
  const again = yield { tool: 'checkout', input: { ...order, cvv } }
  const { status } = yield { tool: 'get_card', input: { id: card.id } }
  const outcome = `Bought for $${bought.amount_usd}: ${bought.status}.`
  return `${outcome} Charged again: ${again.decline_code}. The card is ${status}.`
}

await runAgent({ task: 'Buy the book', model: scripted(buyBook), own_tools: { checkout } })
