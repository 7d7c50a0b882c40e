import { call, type DemoSandbox, simulate } from './demo_sandbox.ts'

/**
 * Cards and top-ups in states that everyday life does not leave behind, so that each has a page to
 * look at.
 */
export async function addRareStates(sandbox: DemoSandbox, bearer: string): Promise<void> {
  await addTopups(sandbox, bearer)
  await addCards(sandbox, bearer)
}

/** One of which a part arrived, one that was canceled, and one that waits for its deposit. */
async function addTopups(sandbox: DemoSandbox, bearer: string): Promise<void> {
  const create = async (amount_usd: number) =>
    String((await call(sandbox, 'create_topup', { amount_usd }, bearer)).id)
  const part = await create(250)
  await simulate(sandbox, `topups/${part}/deposit`, { amount_usd: 180 }, bearer)
  await simulate(sandbox, `topups/${part}/confirm`, {}, bearer)
  await call(sandbox, 'cancel_topup', { id: await create(75) }, bearer)
  await create(300)
}

const shipping = {
  name: 'Robin Demo',
  line1: '18 Harbour Street',
  city: 'Rotterdam',
  postal_code: '3011 AB',
  country: 'NL',
}

/** A physical card on its way, a single-use one that was used, one for a merchant, a frozen one. */
async function addCards(sandbox: DemoSandbox, bearer: string): Promise<void> {
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
