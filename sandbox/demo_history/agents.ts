import { askFor, callAs, connectAgent, type DemoAgent, refreshAgent } from './agent.ts'
import { type DemoSandbox, pay, settle } from './demo_sandbox.ts'
import type { Person } from './person.ts'
import { agent_shops } from './places.ts'

type Owner = { email: string; password: string }

/** The amount that a single-use card is loaded with. */
const LOAD_USD = 40
const READS = ['balance:read', 'card:read', 'transaction:read', 'system:read']

/** Two agents of the household: one buys with single-use cards, one keeps a card loaded. */
export async function connectAgents(sandbox: DemoSandbox, owner: Owner): Promise<DemoAgent[]> {
  return [
    await connectAgent(sandbox, owner, {
      name: 'Shopper',
      scopes: [...READS, 'card:issue', 'card:control'],
      budget: { amount_usd: 60, period: 'day' },
    }),
    await connectAgent(sandbox, owner, {
      name: 'Bill payer',
      scopes: [...READS, 'card:control'],
      budget: { amount_usd: 250, period: 'month', ask_above_usd: 100 },
    }),
  ]
}

/** A day of the agents: a purchase on a new single-use card, and a load of the bills' card. */
export async function playAgents(
  sandbox: DemoSandbox,
  [shopper, payer]: readonly DemoAgent[],
  { bearer, cards }: Person,
): Promise<void> {
  if (shopper === undefined || payer === undefined) return
  await refreshAgent(sandbox, shopper)
  await refreshAgent(sandbox, payer)
  const shop = sandbox.chance.pick(agent_shops)
  const order = { type: 'virtual', name: shop.name, usage: 'single_use', load_usd: LOAD_USD }
  const card = await callAs(sandbox, shopper, 'issue_card', order)
  const [from_usd, to_usd] = shop.usd
  // The agent knows the price before it loads the card, so every purchase fits.
  const place = { ...shop, usd: [from_usd, Math.min(to_usd, LOAD_USD)] as const }
  const bought = await pay(sandbox, { card_id: String(card['id']), bearer }, place)
  await settle(sandbox, bearer, bought.id)
  const bills = cards.find(({ name }) => name === 'Subscriptions')
  if (bills !== undefined)
    await callAs(sandbox, payer, 'load_card', { id: bills.id, amount_usd: 15 })
}

/** Leaves one request that the owner has to decide. */
export async function leaveApproval(
  sandbox: DemoSandbox,
  [shopper]: readonly DemoAgent[],
  { cards }: Person,
): Promise<void> {
  const card = cards.find(({ name }) => name === 'Shopping agent')
  if (shopper === undefined || card === undefined) return
  await refreshAgent(sandbox, shopper)
  await askFor(sandbox, shopper, 'load_card', { id: card.id, amount_usd: 120 })
}
