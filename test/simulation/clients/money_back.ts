import type { Command } from '#test/simulation/model/commands.ts'
import type { Random } from '#test/simulation/random.ts'
import { type NextMessage, refundOf } from './choose_message.ts'
import { type Holder, nameIn } from './holder.ts'

type DisputeCommand = Extract<Command, { op: 'file_dispute' }>
type CloseCommand = Extract<Command, { op: 'close_dispute' }>

export type MoneyBack = {
  dispute: DisputeCommand
  close: CloseCommand
  refund: NextMessage
  isRefundedFirst: boolean
}

/** A purchase that is disputed and refunded, in either order; the holder gets it back once. */
export function chooseMoneyBack(context: {
  holder: Holder
  random: Random
  now: Date
}): MoneyBack | null {
  const { holder, random } = context
  if (holder.captures.length === 0) return null
  const capture = random.pick(holder.captures)
  const refund = refundOf(context, capture)
  if (refund === null) return null
  const account = holder.name
  const dispute = nameIn(holder, 'dispute')
  const outcome = random.chance(75) ? 'won' : 'lost'
  return {
    dispute: { op: 'file_dispute', account, dispute, capture: capture.command.message },
    close: { op: 'close_dispute', account, dispute, outcome },
    refund,
    isRefundedFirst: random.chance(25),
  }
}
