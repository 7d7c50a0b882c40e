// From a deposit to a refund with the client. Needs FLORIN_URL and FLORIN_KEY of a sandbox.
import { createClient, FlorinError } from '@florin/client'

const { FLORIN_URL: url = 'http://127.0.0.1:8080', FLORIN_KEY: bearer } = process.env
const florin = createClient({ url, bearer })

/** Simulates the chain and the card network. In live mode, these events come from outside. */
async function sandbox(path, body = {}) {
  const response = await fetch(`${url}/sandbox/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(await response.text())
  return response.json()
}

const topup = await florin.create_topup({ amount_usd: 100 })
console.log(`send ${topup.amount_usd} ${topup.asset} on ${topup.chain} to ${topup.deposit_address}`)
await sandbox(`topups/${topup.id}/deposit`, { amount_usd: 100 })
await sandbox(`topups/${topup.id}/confirm`)
console.log(`balance: ${(await florin.get_balance()).balance_usd}`)

const card = await florin.issue_card({ type: 'virtual', load_usd: 50, limits: { daily_usd: 20 } })
const purchase = await sandbox(`cards/${card.id}/authorize`, { amount: 12.5 })
await sandbox(`transactions/${purchase.id}/capture`)
await sandbox(`transactions/${purchase.id}/refund`, { amount: 2.5 })

// Iterates over all rows and fetches pages as needed.
for await (const { type, amount_usd } of florin.list_card_transactions({ id: card.id })) {
  console.log(`${type}: ${amount_usd}`)
}

try {
  await florin.load_card({ id: card.id, amount_usd: 1_000 })
} catch (error) {
  if (!(error instanceof FlorinError)) throw error
  console.log(`refused: ${error.code}`)
}
