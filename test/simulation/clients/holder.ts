import type { OutgoingMessage } from '#iso8583/message.ts'
import type { SpendCommand } from '#test/simulation/model/budgets.ts'
import type { CardMessage, CardRequest, Merchant } from '#test/simulation/model/commands.ts'
import type { Agent } from '#test/support/agent.ts'

/** A card as its owner and the shops know it. */
export type HolderCard = {
  name: string
  id: string
  pan: string
  cvv: string
  /** YYMM. */
  expiry: string
}

/** A message that was sent, or will be sent after its reversal. */
export type SentMessage = { command: CardMessage; wire: OutgoingMessage }
export type Purchase = { command: CardRequest; wire: OutgoingMessage; isSent: boolean }

/** An app with a budget, as the account's owner has allowed it. */
export type HolderAgent = {
  name: string
  oauth: Agent
  token: string
  refresh_token: string
  /** The latest approval of each call that was refused. */
  approvals: Map<string, { id: string; command: SpendCommand }>
}

/** A 3-D Secure challenge that the cardholder has decided. */
type HolderChallenge = { id: string; card: string; merchant: Merchant; minor: bigint }

/** An account of the simulation: its credentials and the names of everything in it. */
export type Holder = {
  name: string
  email: string
  account_id: string
  session: string
  key: string
  cards: HolderCard[]
  purchases: Purchase[]
  sent: SentMessage[]
  /** Captures, which can be disputed. */
  captures: SentMessage[]
  disputed: SentMessage[]
  /** Names and IDs. */
  topups: Map<string, { id: string; address: string }>
  withdrawals: Map<string, string>
  disputes: Map<string, string>
  webhook_id: string | null
  agent: HolderAgent | null
  challenges: HolderChallenge[]
  hears_challenges: boolean
  /** Numbers the names. */
  names: number
}

export const PASSWORD = 'a long enough password'

/** Enough to choose from; older messages are forgotten. */
const KEPT = 60

export function keep<Item>(items: Item[], item: Item): void {
  items.push(item)
  if (items.length > KEPT) items.shift()
}

export function nameIn(holder: Holder, kind: string): string {
  holder.names += 1
  return `${kind}${holder.names}`
}

export function cardOf({ cards }: Pick<Holder, 'cards'>, name: string): HolderCard {
  const card = cards.find((one) => one.name === name)
  if (card === undefined) throw new Error(`no card ${name}`)
  return card
}
