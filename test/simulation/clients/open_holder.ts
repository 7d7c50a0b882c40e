import { restCall } from './call.ts'
import { deposit } from './deposits.ts'
import { type Holder, PASSWORD } from './holder.ts'
import { callOperation, revealCard, type Session, usd } from './session.ts'

/** Opens an account with a key; the money and cards come with commands. */
export async function openHolder(session: Session, name: string): Promise<Holder> {
  const { transport, random } = session
  const email = `${name}_${session.now().toString(36)}@example.com`
  const body = { email, password: PASSWORD }
  const account = await transport.send(restCall('create_account', body), random)
  transport.monitor.count('create_account', String(account.status))
  if (account.status !== 201) throw new Error(`no account: ${JSON.stringify(account.body)}`)
  const bearer = String(account.body['bearer'])
  const key = await newKey(session, bearer)
  return {
    ...{ name, email, account_id: String(account.body['id']), session: bearer, key },
    ...{
      cards: [],
      purchases: [],
      sent: [],
      captures: [],
      disputed: [],
      names: 0,
      webhook_id: null,
      agent: null,
    },
    ...{ challenges: [], hears_challenges: false },
    ...{ topups: new Map(), withdrawals: new Map(), disputes: new Map() },
  }
}

/** A replayed response doesn't show the key again, so a lost one is replaced. */
async function newKey(session: Session, bearer: string): Promise<string> {
  for (;;) {
    const answer = await callOperation(session, 'create_api_key', { name: 'simulation' }, bearer)
    const { key } = answer.body
    if (typeof key === 'string') return key
  }
}

/** An account with money and cards, without a model. */
export async function openFunded(
  session: Session,
  name: string,
  { cards, amount }: { cards: number; amount: bigint },
): Promise<Holder> {
  const holder = await openHolder(session, name)
  await deposit(session, holder, amount)
  for (let at = 0; at < cards; at += 1) {
    const bin = at % 3 === 2 ? '555555' : '400000'
    const load_usd = Math.floor(usd(amount) / (cards * 4))
    const input = { type: 'virtual', bin, load_usd }
    const { status, body } = await callOperation(session, 'issue_card', input, holder.key)
    if (status >= 300) throw new Error(`no card: ${JSON.stringify(body)}`)
    const made = { id: String(body['id']), name: `card${at}` }
    const card = await revealCard(session, holder, made)
    if (card !== null) holder.cards.push(card)
  }
  return holder
}
