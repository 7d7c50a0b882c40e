import { sendPendingClearings } from './clearings.ts'
import { call, type DemoSandbox, simulate } from './demo_sandbox.ts'
import type { Person } from './person.ts'
import { risky } from './places.ts'
import { addCards, addTopups, awaitDeposit } from './rare_states.ts'

type People = readonly Person[]
type Case = (sandbox: DemoSandbox, household: Person, people: People) => Promise<unknown>

/** Cases for support and states that everyday life does not leave behind, by day. */
const cases: Readonly<Record<number, Case>> = {
  34: (sandbox, { bearer }) => withdraw(sandbox, bearer, { amount_usd: 120, end: 'confirm' }),
  58: (sandbox, { bearer }) => dispute(sandbox, bearer, 'Paper Crane Online'),
  64: (sandbox, { bearer }) =>
    changeDispute(sandbox, bearer, 'answer', { text: 'We shipped a replacement.' }),
  70: (sandbox, { bearer }) => changeDispute(sandbox, bearer, 'close', { outcome: 'won' }),
  77: (sandbox, { bearer }) => withdraw(sandbox, bearer, { amount_usd: 45, end: 'fail' }),
  79: gamble,
  81: (sandbox, { bearer }) => addCards(sandbox, bearer),
  82: (sandbox, { bearer }) => addTopups(sandbox, bearer),
  84: (sandbox, { bearer }) => dispute(sandbox, bearer, 'Threadbare Clothing'),
  85: (sandbox, _household, people) => depositTooLittle(sandbox, people.at(-1)),
}

export async function playCases(sandbox: DemoSandbox, people: People, day: number): Promise<void> {
  const [household] = people
  if (household !== undefined) await cases[day]?.(sandbox, household, people)
}

/** Cases that would be over by the end if they had begun earlier. */
export async function addLastCases(
  sandbox: DemoSandbox,
  [household, studio, traveler]: People,
): Promise<void> {
  if (household === undefined || studio === undefined || traveler === undefined) return
  const ticket = {
    subject: 'Hotel charged twice?',
    message: 'I see a hold and a charge from Hotel Alvorada. Is the hold released by itself?',
    category: 'card',
  }
  await call(sandbox, 'open_ticket', ticket, household.bearer)
  await awaitDeposit(sandbox, household.bearer)
  await call(sandbox, 'withdraw', { amount_usd: 650, address: WALLET }, household.bearer)
  await sendPendingClearings(sandbox, traveler)
  const idle = studio.cards[0]
  if (idle !== undefined) await call(sandbox, 'freeze_card', { id: idle.id }, studio.bearer)
}

/** With an online shop, which can fail to deliver. */
async function dispute(sandbox: DemoSandbox, bearer: string, merchant: string): Promise<void> {
  const { data } = await call(sandbox, 'list_transactions', { type: 'capture', merchant }, bearer)
  const charges = data as { id: string; refunded_usd: number }[]
  const charge = charges.find(({ refunded_usd }) => refunded_usd === 0)
  if (charge === undefined) throw new Error(`the demo has no charge from ${merchant}`)
  const explanation = 'The order never arrived, and the shop does not reply.'
  const filed = { transaction_id: charge.id, reason: 'not_received', explanation }
  await call(sandbox, 'file_dispute', filed, bearer)
}

/** The answer of the merchant or the decision, for the open dispute. */
async function changeDispute(
  sandbox: DemoSandbox,
  bearer: string,
  step: 'answer' | 'close',
  body: object,
): Promise<void> {
  const { data } = await call(sandbox, 'list_disputes', { status: 'open,answered' }, bearer)
  for (const { id } of data as { id: string }[]) {
    await simulate(sandbox, `disputes/${id}/${step}`, body, bearer)
  }
}

/** An external wallet; the sandbox's chain takes any valid address. */
const WALLET = 'TB7mhtkvfhsRBRhe5FuRa4tFXSEyGDe4eA'

async function withdraw(
  sandbox: DemoSandbox,
  bearer: string,
  { amount_usd, end }: { amount_usd: number; end: 'confirm' | 'fail' },
): Promise<void> {
  const { id } = await call(sandbox, 'withdraw', { amount_usd, address: WALLET }, bearer)
  await simulate(sandbox, `withdrawals/${id}/${end}`, {}, bearer)
}

/** A purchase that a rule of the card declines. */
async function gamble(sandbox: DemoSandbox, { bearer, cards: [card] }: Person): Promise<void> {
  if (card === undefined) return
  await call(sandbox, 'set_mcc_rules', { id: card.id, deny: ['7995'] }, bearer)
  const purchase = { amount: 60, merchant_name: risky.name, mcc: risky.mcc }
  await simulate(sandbox, `cards/${card.id}/authorize`, purchase, bearer)
}

/** A deposit below the minimum waits in suspense for an operator. */
async function depositTooLittle(sandbox: DemoSandbox, person: Person | undefined): Promise<void> {
  if (person === undefined) return
  const { id } = await call(sandbox, 'create_topup', { amount_usd: 50 }, person.bearer)
  await simulate(sandbox, `topups/${id}/deposit`, { amount_usd: 0.6 }, person.bearer)
  await simulate(sandbox, `topups/${id}/confirm`, {}, person.bearer)
}
