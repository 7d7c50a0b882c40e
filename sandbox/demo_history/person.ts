import { call, type DemoSandbox, pay, settle, simulate, topUp } from './demo_sandbox.ts'
import { type Place, subscriptions } from './places.ts'

type CardPlan = { name: string; limits: object; places: readonly Place[]; brand?: 'mastercard' }
type Plan = { name: string; income_usd: number; daily: number; cards: readonly CardPlan[] }

export type Person = Omit<Plan, 'cards'> & {
  bearer: string
  cards: (CardPlan & { id: string })[]
  /** Approved and not yet captured. */
  open: string[]
}

/** An account with its first deposit and its cards. */
export async function settleIn(sandbox: DemoSandbox, bearer: string, plan: Plan): Promise<Person> {
  await topUp(sandbox, bearer, plan.income_usd)
  const cards: Person['cards'] = []
  for (const card of plan.cards) {
    const { name, limits, brand = 'visa' } = card
    const bin = await binOf(sandbox, bearer, brand)
    const { id } = await call(sandbox, 'issue_card', { type: 'virtual', name, limits, bin }, bearer)
    cards.push({ ...card, id: String(id) })
  }
  return { ...plan, bearer, cards, open: [] }
}

async function binOf(sandbox: DemoSandbox, bearer: string, brand: string): Promise<string> {
  const { programme } = await call(sandbox, 'get_limits', {}, bearer)
  const { bins } = programme as { bins: { bin: string; brand: string }[] }
  const found = bins.find((each) => each.brand === brand)
  if (found === undefined) throw new Error(`no BIN of ${brand}`)
  return found.bin
}

const LOAD_BELOW_USD = 120
const LOAD_USD = 200
const SUBSCRIPTION_DAY = 30

/** One part of a day: settle what is open, keep cards loaded, buy something. */
export async function liveThrough(
  sandbox: DemoSandbox,
  person: Person,
  { day, isFirst }: { day: number; isFirst: boolean },
): Promise<void> {
  if (isFirst) {
    await settleOpen(sandbox, person)
    if (day % 15 === 14) await topUp(sandbox, person.bearer, person.income_usd)
    if (day % 5 === 0) await loadCards(sandbox, person)
    if (day % SUBSCRIPTION_DAY === 3) await renewSubscriptions(sandbox, person)
  }
  // Three parts a day.
  for (let wish = person.daily / 3; wish > 0; wish -= 1) {
    if (sandbox.chance.isHit(Math.min(1, wish))) await buySomething(sandbox, person)
  }
}

async function buySomething(sandbox: DemoSandbox, person: Person): Promise<void> {
  const card = sandbox.chance.pick(person.cards.filter(({ places }) => places.length > 0))
  const place = sandbox.chance.pick(card.places)
  const paid = await pay(sandbox, { card_id: card.id, bearer: person.bearer }, place)
  if (paid.isApproved) person.open.push(paid.id)
}

async function renewSubscriptions(sandbox: DemoSandbox, person: Person): Promise<void> {
  const card = person.cards.find(({ name }) => name === 'Subscriptions')
  if (card === undefined) return
  for (const place of subscriptions) {
    const paid = await pay(sandbox, { card_id: card.id, bearer: person.bearer }, place)
    if (paid.isApproved) person.open.push(paid.id)
  }
}

/** Merchants capture the next day; a few give the money back later, and one in fifty cancels. */
async function settleOpen(sandbox: DemoSandbox, person: Person): Promise<void> {
  const { bearer, open } = person
  for (const id of open.splice(0)) {
    if (sandbox.chance.isHit(0.02)) {
      await simulate(sandbox, `transactions/${id}/reverse`, {}, bearer)
      continue
    }
    const capture = await settle(sandbox, bearer, id)
    if (sandbox.chance.isHit(0.04))
      await simulate(sandbox, `transactions/${capture.id}/refund`, {}, bearer)
  }
}

/** Keeps every card usable, as far as the balance goes; the rest is declined. */
async function loadCards(sandbox: DemoSandbox, { bearer, cards }: Person): Promise<void> {
  for (const { id } of cards) {
    const { balance_usd } = await call(sandbox, 'get_card', { id }, bearer)
    const available = Number((await call(sandbox, 'get_balance', {}, bearer)).balance_usd)
    const amount_usd = Math.min(LOAD_USD, Math.floor(available))
    if (Number(balance_usd) < LOAD_BELOW_USD && amount_usd >= 20) {
      await call(sandbox, 'load_card', { id, amount_usd }, bearer)
    }
  }
}
