import { call, simulate, type World } from './world.ts'

async function createTopup(world: World, bearer: string, amount_usd: number): Promise<string> {
  return String((await call(world, 'create_topup', { amount_usd }, bearer)).id)
}

/** One of which a part arrived, and one that was canceled. */
export async function addTopups(world: World, bearer: string): Promise<void> {
  const part = await createTopup(world, bearer, 250)
  await simulate(world, `topups/${part}/deposit`, { amount_usd: 180 }, bearer)
  await simulate(world, `topups/${part}/confirm`, {}, bearer)
  await call(world, 'cancel_topup', { id: await createTopup(world, bearer, 75) }, bearer)
}

/** One that waits for its deposit, until it expires. */
export const awaitDeposit = (world: World, bearer: string) => createTopup(world, bearer, 300)

const shipping = {
  name: 'Robin Demo',
  line1: '18 Harbour Street',
  city: 'Rotterdam',
  postal_code: '3011 AB',
  country: 'NL',
}

/** A physical card on its way, a single-use one that was used, one for a merchant, a frozen one. */
export async function addCards(world: World, bearer: string): Promise<void> {
  const issue = async (name: string, fields: object) =>
    String((await call(world, 'issue_card', { type: 'virtual', name, ...fields }, bearer)).id)
  const wallet = await issue('Wallet', { type: 'physical', shipping })
  for (const status of ['submitted', 'shipped']) {
    await simulate(world, `cards/${wallet}/shipping`, { status }, bearer)
  }
  const trial = await issue('Free trial', { usage: 'single_use', load_usd: 20 })
  const purchase = { amount: 9.99, merchant_name: 'Readlist', mcc: '5968' }
  const { id } = await simulate(world, `cards/${trial}/authorize`, purchase, bearer)
  await simulate(world, `transactions/${id}/capture`, {}, bearer)
  const merchant_lock = { name: 'Metro Gym' }
  await issue('Gym', { usage: 'merchant_locked', merchant_lock, load_usd: 40 })
  const old = await issue('Old laptop shop', { load_usd: 15 })
  await call(world, 'freeze_card', { id: old }, bearer)
}
