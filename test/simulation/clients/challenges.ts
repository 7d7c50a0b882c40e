import type { Merchant } from '#test/simulation/model/commands.ts'
import { eventually } from '#test/support/eventually.ts'
import { type Holder, keep } from './holder.ts'
import type { Life } from './life.ts'
import { callOperation, callPath, type Session } from './session.ts'

const DECIDED_MS = 60_000
const MERCHANT: Merchant = {
  ...{ name: 'Challenge Shop', id: 'MERCHANT0000009', mcc: '5732', country: 'US' },
}

/** Opens a challenge and waits for the cardholder, who approves even amounts. */
export async function runChallenge(life: Life): Promise<void> {
  const { session, holder, model } = life
  const { random } = session
  if (!(await hearChallenges(session, holder)) || holder.cards.length === 0) return
  const { id: card_id, name: card } = random.pick(holder.cards)
  const minor = random.between(100, 4_000)
  const { name: merchant_name, id: merchant_id } = MERCHANT
  const { account_id } = holder
  const body = { account_id, card_id, amount_minor: minor, merchant_name, merchant_id }
  const path = '/simulation/v1/challenges'
  const opened = await callPath(session, 'open_challenge', { path, body })
  const id = String(opened.body['id'])
  const status = await waitForDecision(session, `${path}/${account_id}/${id}`)
  if (status === null) return
  const charge = { minor: BigInt(minor), currency: 'USD' }
  const of = { account: holder.name, challenge: id }
  model.setTime(session.now())
  model.apply({ op: 'open_challenge', ...of, card, charge, merchant: MERCHANT })
  model.apply({ op: 'decide_challenge', ...of, decision: status })
  keep(holder.challenges, { id, card, merchant: MERCHANT, minor: BigInt(minor) })
}

type Decision = 'approved' | 'declined' | 'expired'

/** Null if a fault delayed the cardholder too long; then the challenge is not used. */
async function waitForDecision(session: Session, path: string): Promise<Decision | null> {
  let status = 'pending'
  const isDecided = async () => {
    const { body } = await callPath(session, 'challenge_status', { path, method: 'GET' })
    status = String(body['status'])
    if (status === 'pending') await new Promise((resolve) => setTimeout(resolve, 200))
    return status !== 'pending'
  }
  return (await eventually(isDecided, { within_ms: DECIDED_MS })) ? (status as Decision) : null
}

/** Subscribes the cardholder to challenges, once. */
async function hearChallenges(session: Session, holder: Holder): Promise<boolean> {
  if (holder.hears_challenges) return true
  const input = { url: session.cardholder_url, events: ['three_ds.challenge'] }
  const { status } = await callOperation(session, 'create_webhook', input, holder.key)
  holder.hears_challenges = status < 300
  return holder.hears_challenges
}

type TransactionRow = {
  type: string
  retrieval_reference_number: string | null
  three_ds: { result: string } | null
}

/** Reads which result a purchase got that named a challenge, and compares it with the model. */
export async function readChallengeResult(
  { model, session, holder }: Life,
  { message, card_id, rrn }: { message: string; card_id: string; rrn: string | null },
): Promise<void> {
  const filter = { id: card_id, limit: 20 }
  const { body } = await callOperation(session, 'list_card_transactions', filter, holder.key)
  const rows = (body['data'] ?? []) as TransactionRow[]
  const row = rows.find((one) => one.retrieval_reference_number === rrn && one.type !== 'capture')
  if (row === undefined) return
  session.transport.monitor.count('three_ds', row.three_ds?.result ?? 'no result')
  model.observe(holder.name, { rows: { [message]: { three_ds: row.three_ds?.result ?? null } } })
}
