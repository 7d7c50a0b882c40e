import type { CardView } from '#test/simulation/model/view.ts'
import { callAsAgent } from './agents.ts'
import type { Holder } from './holder.ts'
import type { Life } from './life.ts'
import { callOperation, micros, type Session } from './session.ts'

type CardBody = {
  status: string
  balance_usd: number
  held_usd: number
  cancel_reason: string | null
  merchant_lock: { name: string } | null
  limits: { spent: { daily_usd: number; monthly_usd: number } }
}

/** Reads the balance and every card, and compares them with the model. */
export async function readAccount({ model, session, holder }: Life): Promise<void> {
  const balance = await callOperation(session, 'get_balance', {}, holder.key)
  if (balance.status !== 200) return
  const cards = await readCards(session, holder)
  const agents = await readBudget(session, holder)
  model.setTime(session.now())
  const { body } = balance
  session.transport.trace.write({ what: 'read', account: holder.name })
  model.observe(holder.name, {
    balance: micros(body['balance_usd']),
    owed: micros(body['owed_usd']),
    cards_total: micros(body['cards_usd']),
    cards,
    agents,
  })
}

/** The usage of a replaced card moved to its successor, so only live cards show it. */
type SeenCard = Pick<CardView, 'status' | 'balance' | 'held' | 'is_used' | 'lock'> &
  Partial<CardView>

async function readCards(session: Session, holder: Holder): Promise<Record<string, SeenCard>> {
  const views: Record<string, SeenCard> = {}
  for (const { id, name } of holder.cards) {
    const { status, body } = await callOperation(session, 'get_card', { id }, holder.key)
    if (status !== 200) continue
    const card = body as unknown as CardBody
    const { status: card_status, balance_usd, held_usd, limits } = card
    views[name] = {
      status: card_status as CardView['status'],
      balance: micros(balance_usd),
      held: micros(held_usd),
      is_used: card.cancel_reason === 'used',
      lock: card.merchant_lock?.name ?? null,
      ...(card_status !== 'cancelled' && {
        spent_daily: micros(limits.spent.daily_usd),
        spent_monthly: micros(limits.spent.monthly_usd),
      }),
    }
  }
  return views
}

/** What the holder's app has used of its budget. */
async function readBudget(
  session: Session,
  holder: Holder,
): Promise<Record<string, { used: bigint }>> {
  const { agent } = holder
  const answer = await callAsAgent(session, holder, { name: 'get_limits', input: {} })
  const budget = answer?.body['budget'] as { used_usd: number } | undefined
  if (agent === null || !budget) return {}
  return { [agent.name]: { used: micros(budget.used_usd) } }
}
