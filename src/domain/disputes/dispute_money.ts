import type { NewEvent } from '#domain/context/context.ts'
import { debtEvent } from '#domain/ledger/debt.ts'
import { move } from '#domain/ledger/move.ts'
import { beginPosting, type Move, type Posting, type Stamp } from '#domain/ledger/post.ts'
import { operator, receivable, treasury } from '#domain/ledger/purse.ts'
import { assert } from '#kernel/assert.ts'
import { formatUsd, type Micros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { creditOf, type DisputeRow, disputeReference } from './dispute.ts'

type DisputePosting = { tx: Tx; dispute: DisputeRow; stamp: Stamp }
type DisputeMove = Pick<Move, 'movement' | 'from' | 'to' | 'amount_micros'>

function buildMove(dispute: DisputeRow, step: DisputeMove): Move {
  return {
    ...step,
    account_id: dispute.account_id,
    reference: disputeReference(dispute.id),
    description: `Dispute of ${dispute.transaction_id}.`,
  }
}

/** The operator advances the credit and gets it back from the network if the dispute is won. */
export async function creditDispute({ tx, dispute, stamp }: DisputePosting): Promise<void> {
  const { amount_micros } = dispute
  const step = { movement: 'dispute_credited', from: operator, to: treasury } as const
  await move(tx, buildMove(dispute, { ...step, amount_micros }), stamp)
}

/** Reverses the credit of a lost dispute, as far as refunds have not replaced it. */
export async function reverseDispute({ tx, dispute, stamp }: DisputePosting): Promise<NewEvent[]> {
  const { account_id } = dispute
  const posting = await beginPosting(tx, [{ account_id, ...treasury }], stamp)
  const events = reverseCredit(posting, dispute, creditOf(dispute))
  await posting.write()
  return events
}

const minimum = (a: Micros, b: Micros): Micros => (a < b ? a : b)

/** Debits the treasury. A shortfall becomes a debt, with an event for the holder. */
export function reverseCredit(
  posting: Posting,
  dispute: DisputeRow,
  amount_micros: Micros,
): NewEvent[] {
  const { account_id } = dispute
  const taken_micros = minimum(amount_micros, posting.balanceOf(account_id, treasury))
  const added_micros = amount_micros - taken_micros
  for (const step of [
    { movement: 'dispute_reversed', from: treasury, to: operator, amount_micros: taken_micros },
    { movement: 'dispute_owed', from: receivable, to: operator, amount_micros: added_micros },
  ] as const) {
    if (step.amount_micros === 0n) continue
    const posted = posting.move(buildMove(dispute, step))
    assert(posted !== null, 'the treasury covers its part')
  }
  const owed_micros = -posting.balanceOf(account_id, receivable)
  if (added_micros === 0n) return []
  const reason = `The credit for a dispute was taken back (${formatUsd(amount_micros)}).`
  return [debtEvent({ account_id, added_micros, owed_micros, reason })]
}
