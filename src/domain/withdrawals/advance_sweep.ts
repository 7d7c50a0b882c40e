import { addSweptAmount, pauseSweeps } from '#domain/topups/address_holding_store.ts'
import { claimNonce } from './sender_order_store.ts'
import type { SentTransferRow } from './sent_transfers.ts'
import {
  insertSweepTransfer,
  type Leg,
  type SweepChange,
  type SweepRow,
  updateSweep,
} from './sweep_store.ts'
import type { WithdrawalDependencies } from './withdrawal_dependencies.ts'

const RETRY_MS = 3_000

/** A transfer that reverted would probably revert again, and each attempt costs fees. */
const REVERTED_PAUSE_MS = 60 * 60_000

/** A sweep that waits for the chain is checked again after a pause, any other immediately. */
function scheduleNext({ clock }: WithdrawalDependencies, { step }: SweepChange) {
  const now = clock.now()
  const pause_ms = step === undefined || step.endsWith('ing') ? RETRY_MS : 0
  return { now, next_try_at: new Date(now.getTime() + pause_ms) }
}

export async function updateStep(
  dependencies: WithdrawalDependencies,
  sweep: SweepRow,
  change: SweepChange,
): Promise<SweepRow | null> {
  return updateSweep(dependencies.db, sweep, change, scheduleNext(dependencies, change))
}

type NewLegTransfer = { leg: Leg; sender: string; transfer: SentTransferRow }

/** Stores a signed transfer before it is sent. False means that it must not be sent. */
export async function storeLeg(
  dependencies: WithdrawalDependencies,
  sweep: SweepRow,
  { leg, sender, transfer }: NewLegTransfer,
): Promise<boolean> {
  const { nonce } = transfer
  return dependencies.db.transaction(async (tx) => {
    const change: SweepChange = { step: leg === 'fuel' ? 'fuelling' : 'sweeping' }
    const moved = await updateSweep(tx, sweep, change, scheduleNext(dependencies, change))
    if (moved === null) return false
    const address = { chain: sweep.chain, address: sender }
    if (nonce !== null && !(await claimNonce(tx, address, nonce))) {
      const next_attempt = { step: sweep.step, attempt: sweep.attempt + 1 }
      await updateSweep(tx, moved, next_attempt, scheduleNext(dependencies, next_attempt))
      return false
    }
    await insertSweepTransfer(tx, sweep, { leg, transfer })
    return true
  })
}

/** Stores a transfer with the same nonce and a higher fee. */
export async function storeLegReplacement(
  dependencies: WithdrawalDependencies,
  sweep: SweepRow,
  { leg, transfer }: Omit<NewLegTransfer, 'sender'>,
): Promise<boolean> {
  return dependencies.db.transaction(async (tx) => {
    const change = { attempt: transfer.attempt }
    const moved = await updateSweep(tx, sweep, change, scheduleNext(dependencies, change))
    if (moved === null) return false
    await insertSweepTransfer(tx, sweep, { leg, transfer })
    return true
  })
}

/** The transfer of a leg is final on the chain. */
export async function settleSweep(
  dependencies: WithdrawalDependencies,
  sweep: SweepRow,
  { leg, ok }: { leg: Leg; ok: boolean },
): Promise<void> {
  const done = leg === 'fuel' ? 'fuelled' : 'done'
  const change: SweepChange = ok ? { step: done, attempt: 1 } : { step: 'failed' }
  await dependencies.db.transaction(async (tx) => {
    const schedule = scheduleNext(dependencies, change)
    const moved = await updateSweep(tx, sweep, change, schedule)
    if (moved?.step === 'done') await addSweptAmount(tx, sweep)
    if (moved?.step !== 'failed') return
    await pauseSweeps(tx, sweep, new Date(schedule.now.getTime() + REVERTED_PAUSE_MS))
  })
}
