import { send } from './http.ts'
import type { BareCard } from './issuer.ts'
import { pick, type Random, type StormOwner } from './mixed_storm_actors.ts'
import type { TestService } from './start.ts'
import { WALLET } from './withdrawals.ts'

type CallResult = { call: string; status: number; text: string }
type Call = (method: string, path: string, body?: object) => Promise<Record<string, unknown>>
type OwnerAction = (call: Call, owner: StormOwner, random: Random) => Promise<unknown>

/** The path of a random card of the account. */
const card = ({ cards }: StormOwner, random: Random): string =>
  `/v1/cards/${pick(cards, random).id}`
const CARDS_KEPT = 14

/** Every owner's write that touches the account's money, cards or event sequence. */
const owner_actions: readonly OwnerAction[] = [
  ...repeated(6, (call, owner, random) =>
    call('POST', `${card(owner, random)}/load`, { amount_usd: 1 + random(50) }),
  ),
  ...repeated(6, (call, owner, random) =>
    call('POST', `${card(owner, random)}/unload`, { amount_usd: 1 + random(20) }),
  ),
  ...repeated(4, (call, owner, random) =>
    call('PATCH', `${card(owner, random)}/limits`, { daily_usd: 200 + random(2_000) }),
  ),
  (call, owner, random) =>
    call('PATCH', `${card(owner, random)}/mcc`, { deny: [String(1_000 + random(5_000))] }),
  (call, owner, random) =>
    call('PATCH', `${card(owner, random)}/geo`, { deny: [pick(['KP', 'IR', 'CU'], random)] }),
  async (call, owner, random) => {
    const path = card(owner, random)
    await call('POST', `${path}/freeze`)
    await call('POST', `${path}/unfreeze`)
  },
  (call) => call('POST', '/v1/topups', { amount_usd: 20 }),
  (call, _, random) =>
    call('PATCH', '/v1/accounts/me', { notifications: { card_frozen: random(2) === 0 } }),
  async (call) => {
    const { id } = await call('POST', '/v1/api_keys', { name: 'storm' })
    if (typeof id === 'string') await call('DELETE', `/v1/api_keys/${id}`)
  },
  async (call) => {
    const webhook = { url: 'https://example.com/storm', events: ['*'] }
    const { id } = await call('POST', '/v1/webhooks', webhook)
    if (typeof id === 'string') await call('DELETE', `/v1/webhooks/${id}`)
  },
  (call) => call('POST', '/v1/tickets', { subject: 'Storm', message: 'Help', category: 'other' }),
  (call) => call('POST', '/v1/withdrawals', { amount_usd: 10, address: WALLET }),
  async (call) => {
    const { data } = await call('GET', '/v1/transactions?type=capture&limit=5')
    const [capture] = Array.isArray(data) ? (data as { id: string }[]) : []
    if (capture === undefined) return
    await call('POST', '/v1/disputes', {
      transaction_id: capture.id,
      reason: 'fraudulent',
      explanation: 'Not mine.',
    })
  },
]

/** Changes the set of cards, like swapCard. */
async function replaceCard(host: TestService, call: Call, { owner, random }: Turn): Promise<void> {
  const { id } = await call('POST', `${card(owner, random)}/replace`)
  if (typeof id === 'string') owner.cards.push(await printedCard(host, owner, id))
  if (owner.cards.length > CARDS_KEPT) owner.cards.shift()
}

async function swapCard(host: TestService, call: Call, { owner, random }: Turn): Promise<void> {
  const { id } = await call('POST', '/v1/cards', { type: 'virtual', load_usd: 100 })
  if (typeof id === 'string') owner.cards.push(await printedCard(host, owner, id))
  await call('POST', `${card(owner, random)}/cancel`)
  if (owner.cards.length > CARDS_KEPT) owner.cards.shift()
}

type Turn = { owner: StormOwner; random: Random }

export async function makeOwnerCall(
  { host, url }: { host: TestService; url: string },
  owner: StormOwner,
  random: Random,
): Promise<CallResult[]> {
  const results: CallResult[] = []
  const call: Call = async (method, path, body) => {
    const reply = await send(url, method, path, { bearer: owner.key, body })
    results.push({ call: `${method} ${path}`, status: reply.status, text: reply.text })
    return reply.status < 300 ? reply.body : {}
  }
  const dice = random(40)
  if (dice === 0) await replaceCard(host, call, { owner, random })
  else if (dice === 1) await swapCard(host, call, { owner, random })
  else await pick(owner_actions, random)(call, owner, random)
  return results
}

export async function printedCard(
  host: TestService,
  { account_id }: Pick<StormOwner, 'account_id'>,
  id: string,
): Promise<BareCard> {
  const { pan, exp_year, exp_month } = await host.sandbox_host.cardNumberOf(account_id, id)
  const expiry = `${String(exp_year % 100).padStart(2, '0')}${String(exp_month).padStart(2, '0')}`
  return { account_id, id, pan: pan.open(), expiry }
}

function repeated(times: number, action: OwnerAction): OwnerAction[] {
  return Array.from({ length: times }, () => action)
}
