import { claimNonce } from './sender_order_store.ts'
import type { SentTransferRow } from './sent_transfers.ts'
import type { WithdrawalDependencies } from './sign_withdrawal.ts'
import {
  insertSweepTransfer,
  type Leg,
  addSweptAmount,
  pauseSweeps,
  type SweepChange,
  type SweepRow,
  updateSweep,
} from './sweep_store.ts'

type Parts = Pick<WithdrawalDependencies, 'db' | 'clock'>

const RETRY_MS = 3_000

/** A transfer that the chain has refused will hardly do better at once, and each try costs. */
const REFUSED_BY_CHAIN_MS = 60 * 60_000

/** What is under way, or stays as it is, is looked at again after a while; the rest at once. */
function stamp({ clock }: Pick<Parts, 'clock'>, { step }: SweepChange) {
  const now = clock.now()
  const pause_ms = step === undefined || step.endsWith('ing') ? RETRY_MS : 0
  return { now, next_try_at: new Date(now.getTime() + pause_ms) }
}

export async function updateStep(
  parts: Parts,
  sweep: SweepRow,
  change: SweepChange,
): Promise<SweepRow | null> {
  return updateSweep(parts.db, sweep, change, stamp(parts, change))
}

type Storing = { leg: Leg; sender: string; transfer: SentTransferRow }

/** Stores what was signed before it is sent; false where it must not be sent. */
export async function storeLeg(
  parts: Parts,
  sweep: SweepRow,
  { leg, sender, transfer }: Storing,
): Promise<boolean> {
  const { nonce } = transfer
  const under_way = leg === 'fuel' ? 'fuelling' : 'sweeping'
  return parts.db.transaction(async (tx) => {
    const change: SweepChange = { step: under_way }
    const moved = await updateSweep(tx, sweep, change, stamp(parts, change))
    if (moved === null) return false
    const order = { chain: sweep.chain, address: sender }
    if (nonce !== null && !(await claimNonce(tx, order, nonce))) {
      const again = { step: sweep.step, attempt: sweep.attempt + 1 }
      await updateSweep(tx, moved, again, stamp(parts, again))
      return false
    }
    await insertSweepTransfer(tx, sweep, { leg, transfer })
    return true
  })
}

/** The same place in the sender's order at a higher price. */
export async function storeLegReplacement(
  parts: Parts,
  sweep: SweepRow,
  { leg, transfer }: Omit<Storing, 'sender'>,
): Promise<boolean> {
  return parts.db.transaction(async (tx) => {
    const change = { attempt: transfer.attempt }
    const moved = await updateSweep(tx, sweep, change, stamp(parts, change))
    if (moved === null) return false
    await insertSweepTransfer(tx, sweep, { leg, transfer })
    return true
  })
}

/** A leg is final on the chain. */
export async function settleSweep(
  parts: Parts,
  sweep: SweepRow,
  { leg, ok }: { leg: Leg; ok: boolean },
): Promise<void> {
  const done = leg === 'fuel' ? 'fuelled' : 'done'
  const change: SweepChange = ok ? { step: done, attempt: 1 } : { step: 'failed' }
  await parts.db.transaction(async (tx) => {
    const when = stamp(parts, change)
    const moved = await updateSweep(tx, sweep, change, when)
    if (moved?.step === 'done') await addSweptAmount(tx, sweep)
    if (moved?.step !== 'failed') return
    await pauseSweeps(tx, sweep, new Date(when.now.getTime() + REFUSED_BY_CHAIN_MS))
  })
}
