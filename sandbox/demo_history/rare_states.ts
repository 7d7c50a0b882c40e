import { call, type DemoSandbox, simulate } from './demo_sandbox.ts'

async function createTopup(
  sandbox: DemoSandbox,
  bearer: string,
  amount_usd: number,
): Promise<string> {
  return String((await call(sandbox, 'create_topup', { amount_usd }, bearer)).id)
}

/** One of which a part arrived, and one that was canceled. */
export async function addTopups(sandbox: DemoSandbox, bearer: string): Promise<void> {
  const part = await createTopup(sandbox, bearer, 250)
  await simulate(sandbox, `topups/${part}/deposit`, { amount_usd: 180 }, bearer)
  await simulate(sandbox, `topups/${part}/confirm`, {}, bearer)
  await call(sandbox, 'cancel_topup', { id: await createTopup(sandbox, bearer, 75) }, bearer)
}

/** One that waits for its deposit, until it expires. */
export const awaitDeposit = (sandbox: DemoSandbox, bearer: string) =>
  createTopup(sandbox, bearer, 300)

const shipping = {
  name: 'Robin Demo',
  line1: '18 Harbour Street',
  city: 'Rotterdam',
  postal_code: '3011 AB',
  country: 'NL',
}

/** A physical card on its way, a single-use one that was used, one for a merchant, a frozen one. */
export async function addCards(sandbox: DemoSandbox, bearer: string): Promise<void> {
  const issue = async (name: string, fields: object) =>
    String((await call(sandbox, 'issue_card', { type: 'virtual', name, ...fields }, bearer)).id)
  const wallet = await issue('Wallet', { type: 'physical', shipping })
  for (const status of ['submitted', 'shipped']) {
    await simulate(sandbox, `cards/${wallet}/shipping`, { status }, bearer)
  }
  const trial = await issue('Free trial', { usage: 'single_use', load_usd: 20 })
  const purchase = { amount: 9.99, merchant_name: 'Readlist', mcc: '5968' }
  const { id } = await simulate(sandbox, `cards/${trial}/authorize`, purchase, bearer)
  await simulate(sandbox, `transactions/${id}/capture`, {}, bearer)
  const merchant_lock = { name: 'Metro Gym' }
  await issue('Gym', { usage: 'merchant_locked', merchant_lock, load_usd: 40 })
  const old = await issue('Old laptop shop', { load_usd: 15 })
  await call(sandbox, 'freeze_card', { id: old }, bearer)
}
