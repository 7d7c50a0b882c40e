import { beginPosting, type Move, type Stamp } from '#domain/ledger/post.ts'
import { operator, receivable, treasury } from '#domain/ledger/purse.ts'
import { assert } from '#kernel/assert.ts'
import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/db.ts'
import { type DisputeRow, disputeReference } from './dispute.ts'

type Money = { tx: Tx; dispute: DisputeRow; stamp: Stamp }
type Step = Pick<Move, 'movement' | 'from' | 'to' | 'amount_micros'>

/** The treasury and what is owed, locked together: a debt is paid as soon as it can be. */
async function begin({ tx, dispute, stamp }: Money) {
  const { account_id } = dispute
  const posting = await beginPosting(
    tx,
    [treasury, receivable].map((purse) => ({ account_id, ...purse })),
    stamp,
  )
  const move = (step: Step) => {
    if (step.amount_micros === 0n) return
    const posted = posting.move({
      ...step,
      account_id,
      reference: disputeReference(dispute.id),
      description: `Dispute about ${dispute.transaction_id}.`,
    })
    assert(posted !== null, 'no more is taken than is there')
  }
  return {
    move,
    in_treasury: () => posting.balanceOf(account_id, treasury),
    owed: () => -posting.balanceOf(account_id, receivable),
    write: posting.write,
  }
}

const least = (a: Micros, b: Micros): Micros => (a < b ? a : b)

/** Ours until the dispute is decided; the network gives it back if it is won. */
export async function creditDispute(money: Money): Promise<void> {
  const { amount_micros } = money.dispute
  const { move, in_treasury, owed, write } = await begin(money)
  move({ movement: 'dispute_credited', from: operator, to: treasury, amount_micros })
  move({
    movement: 'debt_paid_by_treasury',
    from: treasury,
    to: receivable,
    amount_micros: least(owed(), in_treasury()),
  })
  await write()
}

/** Takes the loan back. What the treasury does not hold any more is owed. */
export async function reverseDispute(money: Money): Promise<void> {
  const { amount_micros } = money.dispute
  const { move, in_treasury, write } = await begin(money)
  const taken = least(amount_micros, in_treasury())
  move({ movement: 'dispute_reversed', from: treasury, to: operator, amount_micros: taken })
  const lacking = amount_micros - taken
  move({ movement: 'dispute_owed', from: receivable, to: operator, amount_micros: lacking })
  await write()
}
