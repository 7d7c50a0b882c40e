import { assert } from '#kernel/assert.ts'
import { microsFromUsd } from '#kernel/money.ts'
import { withLease } from '#platform/postgres/lease.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Outlet } from '#rails/chain/outlet.ts'
import { updateStep, settleSweep } from './advance_sweep.ts'
import { guardWithLease, leaseNameOf } from './send_withdrawals_task.ts'
import { findFate, isStuck, type SentTransferRow, toStoredTransfer } from './sent_transfers.ts'
import { paymentOf, replaceLeg, type SweepContext, senderOf, signLeg } from './sign_sweep.ts'
import type { WithdrawalDependencies } from './sign_withdrawal.ts'
import {
  findOpenSweeps,
  findSweepTransfers,
  type Leg,
  planSweeps,
  type SweepRow,
} from './sweep_store.ts'

/** Sweeping is never urgent: the customer has the money since it was credited. */
const EVERY_MS = 5_000
const IDLE_MS = 6_000

/**
 * Brings what has gathered on deposit addresses to the hot wallet: first the coins that the sweep
 * costs, then the asset. It shares the withdrawals' lease, for both spend the hot wallet.
 */
export function sweepDepositsTask(parts: WithdrawalDependencies): Task {
  return {
    name: 'sweep_deposits',
    every_ms: EVERY_MS,
    idle_ms: IDLE_MS,
    pass: async () => {
      for (const outlet of parts.outlets) {
        await withLease(parts.db, leaseNameOf(outlet), (lease) =>
          sweepChain(...guardWithLease(lease, parts, outlet)),
        )
      }
    },
  }
}

async function sweepChain(parts: WithdrawalDependencies, outlet: Outlet): Promise<void> {
  const { chain } = outlet
  const minimum_micros = microsFromUsd(chain.settings.sweep_min_usd)
  const now = parts.clock.now()
  await planSweeps(parts.db, { chain: chain.name, minimum_micros, now })
  for (const sweep of await findOpenSweeps(parts.db, chain.name, now)) {
    await advance({ parts, outlet }, sweep)
  }
}

/** One step; what is signed is stored before it is sent, as with withdrawals. */
async function advance(context: SweepContext, sweep: SweepRow): Promise<void> {
  switch (sweep.step) {
    case 'planned':
      return signFuel(context, sweep)
    case 'fuelled':
      return signAsset(context, sweep)
    case 'fuelling':
      return follow(context, sweep, 'fuel')
    case 'sweeping':
      return follow(context, sweep, 'asset')
  }
}

/** The amount is fixed before it is signed for: the same intent must always say the same. */
async function signFuel(context: SweepContext, sweep: SweepRow): Promise<void> {
  const { parts, outlet } = context
  const fuel = sweep.fuel ?? (await outlet.fuelFor(paymentOf(outlet, sweep)))
  const change = fuel === 0n ? ({ step: 'fuelled', attempt: 1 } as const) : { fuel }
  const noted = await updateStep(parts, sweep, change)
  if (noted !== null && fuel > 0n) await signLeg(context, noted, 'fuel')
}

/** Prices may have risen since the fuel was measured: then another sweep starts with more of it. */
async function signAsset(context: SweepContext, sweep: SweepRow): Promise<void> {
  const missing = await context.outlet.fuelFor(paymentOf(context.outlet, sweep))
  if (missing > 0n) await updateStep(context.parts, sweep, { step: 'failed' })
  else await signLeg(context, sweep, 'asset')
}

async function follow(context: SweepContext, sweep: SweepRow, leg: Leg): Promise<void> {
  const { parts, outlet } = context
  const transfers = await findSweepTransfers(parts.db, sweep, leg)
  const sender = senderOf(outlet, sweep, leg)
  const found = await findFate(outlet, sender, transfers)
  const [newest] = transfers
  assert(newest !== undefined, 'what is under way has its bytes')
  switch (found.fate) {
    case 'final':
      return settleSweep(parts, sweep, { leg, ok: found.ok })
    case 'dead': {
      const step = leg === 'fuel' ? 'planned' : 'fuelled'
      await updateStep(parts, sweep, { step, attempt: sweep.attempt + 1 })
      return
    }
    case 'mined':
      await updateStep(parts, sweep, {})
      return
    case 'unknown':
      await sendAgain(context, sweep, { leg, newest })
  }
}

async function sendAgain(
  context: SweepContext,
  sweep: SweepRow,
  { leg, newest }: { leg: Leg; newest: SentTransferRow },
): Promise<void> {
  const { parts, outlet } = context
  const isReplaced =
    isStuck(outlet, newest, parts.clock.now()) &&
    (await replaceLeg(context, sweep, { leg, stuck: newest }))
  if (isReplaced) return
  await outlet.broadcast(toStoredTransfer(senderOf(outlet, sweep, leg), newest))
  await updateStep(parts, sweep, {})
}
