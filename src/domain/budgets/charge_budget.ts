import type { Caller, Context } from '#domain/context/context.ts'
import { canonicalJson } from '#kernel/canonical.ts'
import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { type ApprovalRequest, ApprovalRequired, nameOfAgent } from './approval.ts'
import { useApproval } from './approval_store.ts'
import { type Budget, describeBrokenRule, leftOf, type Usage, usageAt } from './budget.ts'
import {
  type ChargedAmounts,
  findBudget,
  insertCharge,
  lockUsage,
  sameAmounts,
  saveUsage,
  sumChargesOfCard,
} from './budget_store.ts'

/** A call that moves money out of the treasury. */
export type Spending = {
  operation: ApprovalRequest['operation']
  input: object
  amount_micros: Micros
  card_id: string | null
  /** Continues "Shopper wants to". */
  purpose: string
}

/** A charge that is allowed, to be recorded with its movement. Null for the owner's own calls. */
export type Charge = {
  grant_id: string
  usage: Usage
  amounts: ChargedAmounts
  approval_id: string | null
} | null

/**
 * Requires that the call is within the budget of its grant, or uses the owner's approval for it.
 * The lock on the client's usage is kept until the transaction ends, so calls in parallel add up.
 */
export async function chargeBudget(context: Context, spending: Spending): Promise<Charge> {
  const { tx, caller, now } = context
  const { grant_id, account_id } = caller
  if (grant_id === undefined) return null
  const usage = usageAt(await lockUsage(tx, clientOf(caller), now), now)
  const budget = await findBudget(tx, { account_id, grant_id })
  const amounts = sameAmounts(spending.amount_micros)
  const charge = { grant_id, usage, amounts, approval_id: null }
  if (budget === undefined || isWithin(budget, usage, spending.amount_micros)) return charge
  const request = requestOf(context, spending, { grant_id, budget, usage })
  const approval_id = await useApproval(tx, request, now)
  if (approval_id === undefined) throw new ApprovalRequired(request)
  return { ...charge, approval_id }
}

function isWithin(budget: Budget, usage: Usage, amount_micros: Micros): boolean {
  const { ask_above_micros } = budget
  if (ask_above_micros !== null && amount_micros > ask_above_micros) return false
  return amount_micros <= leftOf(budget, usage)
}

function requestOf(
  { caller, keys }: Context,
  { operation, input, amount_micros, card_id, purpose }: Spending,
  { grant_id, budget, usage }: { grant_id: string; budget: Budget; usage: Usage },
): ApprovalRequest {
  const wish = `${nameOfAgent(caller.name)} wants to ${purpose}`
  const broken = describeBrokenRule(budget, usage, amount_micros)
  return {
    account_id: caller.account_id,
    grant_id,
    client_id: caller.id,
    client_name: caller.name,
    operation,
    fingerprint: keys.fingerprint('approval', canonicalJson([operation, input])),
    summary: `${wish}; ${broken.summary}.`,
    reason: broken.reason,
    amount_micros,
    card_id,
  }
}

/**
 * Unloading gives back what the client itself loaded onto that card in the same period, and no
 * more: money that the owner put there must not become budget.
 */
export async function giveBackBudget(
  { tx, caller, now }: Context,
  { card_id, amount_micros }: { card_id: string; amount_micros: Micros },
): Promise<Charge> {
  const { grant_id } = caller
  if (grant_id === undefined) return null
  const client = clientOf(caller)
  const usage = usageAt(await lockUsage(tx, client, now), now)
  const loaded = await sumChargesOfCard(tx, { ...client, card_id }, usage)
  const back = (loaded_micros: Micros) => -min(amount_micros, max(loaded_micros, 0n))
  const amounts = {
    day_micros: back(loaded.day_micros),
    month_micros: back(loaded.month_micros),
    total_micros: back(loaded.total_micros),
  }
  return { grant_id, usage, amounts, approval_id: null }
}

const min = (a: Micros, b: Micros) => (a < b ? a : b)
const max = (a: Micros, b: Micros) => (a > b ? a : b)

/** Counts the charge, with the movement that it belongs to. */
export async function recordCharge(
  { tx, caller, now }: { tx: Tx; caller: Caller; now: Date },
  charge: Charge,
  { movement_id, card_id }: { movement_id: string; card_id: string | null },
): Promise<void> {
  if (charge === null) return
  const { grant_id, usage, amounts, approval_id } = charge
  if (Object.values(amounts).every((micros) => micros === 0n)) return
  const client = clientOf(caller)
  await saveUsage(tx, client, {
    ...usage,
    day_micros: usage.day_micros + amounts.day_micros,
    month_micros: usage.month_micros + amounts.month_micros,
    total_micros: usage.total_micros + amounts.total_micros,
  })
  await insertCharge(tx, {
    ...client,
    ...amounts,
    grant_id,
    movement_id,
    card_id,
    approval_id,
    day: usage.day,
    created_at: now > usage.total_from ? now : usage.total_from,
  })
}

const clientOf = ({ account_id, id }: Caller) => ({ account_id, client_id: id })
