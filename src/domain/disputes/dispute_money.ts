import type { NewEvent } from '#domain/context/context.ts'
import { debtEvent } from '#domain/ledger/debt.ts'
import { beginPosting, type Move, move, type Posting, type Stamp } from '#domain/ledger/post.ts'
import { operator, receivable, treasury } from '#domain/ledger/purse.ts'
import { assert } from '#kernel/assert.ts'
import type { Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { creditOf, type DisputeRow, disputeReference } from './dispute.ts'

type Money = { tx: Tx; dispute: DisputeRow; stamp: Stamp }
type Step = Pick<Move, 'movement' | 'from' | 'to' | 'amount_micros'>

function moveOf(dispute: DisputeRow, step: Step): Move {
  return {
    ...step,
    account_id: dispute.account_id,
    reference: disputeReference(dispute.id),
    description: `Dispute of ${dispute.transaction_id}.`,
  }
}

/** Ours until the dispute is decided; the network gives it back if it is won. */
export async function creditDispute({ tx, dispute, stamp }: Money): Promise<void> {
  const { amount_micros } = dispute
  const step = { movement: 'dispute_credited', from: operator, to: treasury } as const
  await move(tx, moveOf(dispute, { ...step, amount_micros }), stamp)
}

/** Takes back what a lost dispute still has of its credit. */
export async function reverseDispute({ tx, dispute, stamp }: Money): Promise<NewEvent[]> {
  const { account_id } = dispute
  const posting = await beginPosting(tx, [{ account_id, ...treasury }], stamp)
  const events = reverseCredit(posting, dispute, creditOf(dispute))
  await posting.write()
  return events
}

const least = (a: Micros, b: Micros): Micros => (a < b ? a : b)

/** Takes from the treasury. What it lacks is owed, and the event tells the holder so. */
export function reverseCredit(
  posting: Posting,
  dispute: DisputeRow,
  amount_micros: Micros,
): NewEvent[] {
  const { account_id } = dispute
  const taken = least(amount_micros, posting.balanceOf(account_id, treasury))
  const added_micros = amount_micros - taken
  for (const step of [
    { movement: 'dispute_reversed', from: treasury, to: operator, amount_micros: taken },
    { movement: 'dispute_owed', from: receivable, to: operator, amount_micros: added_micros },
  ] as const) {
    if (step.amount_micros === 0n) continue
    const posted = posting.move(moveOf(dispute, step))
    assert(posted !== null, 'no more is taken than is there')
  }
  const owed_micros = -posting.balanceOf(account_id, receivable)
  return added_micros === 0n ? [] : [debtEvent({ account_id, added_micros, owed_micros })]
}
