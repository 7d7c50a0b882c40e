import { assert } from '#kernel/assert.ts'
import { microsFromUsd } from '#kernel/money.ts'
import { withLease } from '#platform/postgres/lease.ts'
import { forEachAlone } from '#platform/runtime/for_each_alone.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { type ChainSender, TransferRefused } from '#rails/chain/sender.ts'
import { settleSweep, updateStep } from './advance_sweep.ts'
import { guardWithLease, leaseNameOf } from './send_withdrawals_task.ts'
import { findFate, isStuck, type SentTransferRow, toStoredTransfer } from './sent_transfers.ts'
import { paymentOf, replaceLeg, type SweepContext, senderOf, signLeg } from './sign_sweep.ts'
import {
  findOpenSweeps,
  findSweepTransfers,
  type Leg,
  planSweeps,
  postponeSweep,
  type SweepRow,
} from './sweep_store.ts'
import type { WithdrawalDependencies } from './withdrawal_dependencies.ts'

/** Sweeps are not urgent: the deposits are credited already. */
const EVERY_MS = 5_000
const IDLE_MS = 6_000
/** A transfer that the node refuses is tried again after this time. */
const REFUSED_MS = 60_000

/**
 * Sweeps deposit addresses into the hot wallet: first sends the native coins for the fee to the
 * address (fuel), then the asset back. It shares a lease with withdrawals: both use the hot wallet.
 */
export function sweepDepositsTask(dependencies: WithdrawalDependencies): Task {
  return {
    name: 'sweep_deposits',
    every_ms: EVERY_MS,
    idle_ms: IDLE_MS,
    run: () =>
      forEachAlone(dependencies.chain_senders, (chain_sender) =>
        withLease(dependencies.db, leaseNameOf(chain_sender), (lease) =>
          sweepChain(...guardWithLease(lease, dependencies, chain_sender)),
        ),
      ),
  }
}

async function sweepChain(
  dependencies: WithdrawalDependencies,
  chain_sender: ChainSender,
): Promise<void> {
  const { chain } = chain_sender
  const minimum_micros = microsFromUsd(chain.settings.sweep_min_usd)
  const now = dependencies.clock.now()
  await planSweeps(dependencies.db, { chain: chain.name, minimum_micros, now })
  for (const sweep of await findOpenSweeps(dependencies.db, chain.name, now)) {
    const context = { dependencies, chain_sender }
    await advanceSweep(context, sweep).catch((cause: unknown) =>
      postponeFailed(context, sweep, cause),
    )
  }
}

/** A sweep that always fails must not stop the others. */
async function postponeFailed(
  { dependencies: { db, clock, log }, chain_sender: { chain } }: SweepContext,
  sweep: SweepRow,
  cause: unknown,
): Promise<void> {
  const isRefused = cause instanceof TransferRefused
  await postponeSweep(db, sweep, new Date(clock.now().getTime() + (isRefused ? REFUSED_MS : 0)))
  if (!isRefused) throw cause
  log.error('the node refused a sweep', { address: chain.showAddress(sweep.address) }, cause)
}

/** Takes one step. As with withdrawals, signed bytes are stored before they are sent. */
async function advanceSweep(context: SweepContext, sweep: SweepRow): Promise<void> {
  switch (sweep.step) {
    case 'planned':
      return signFuel(context, sweep)
    case 'fuelled':
      return signAsset(context, sweep)
    case 'fuelling':
      return followLeg(context, sweep, 'fuel')
    case 'sweeping':
      return followLeg(context, sweep, 'asset')
  }
}

/** The amount is stored before it is signed: an intent must have the same amount every time. */
async function signFuel(context: SweepContext, sweep: SweepRow): Promise<void> {
  const { dependencies, chain_sender } = context
  const fuel = sweep.fuel ?? (await chain_sender.missingFuel(paymentOf(chain_sender, sweep)))
  const change = fuel === 0n ? ({ step: 'fuelled', attempt: 1 } as const) : { fuel }
  const updated = await updateStep(dependencies, sweep, change)
  if (updated !== null && fuel > 0n) await signLeg(context, updated, 'fuel')
}

/** If fees have risen since the fuel was sent, this sweep fails and the next one sends more. */
async function signAsset(context: SweepContext, sweep: SweepRow): Promise<void> {
  const missing = await context.chain_sender.missingFuel(paymentOf(context.chain_sender, sweep))
  if (missing > 0n) await updateStep(context.dependencies, sweep, { step: 'failed' })
  else await signLeg(context, sweep, 'asset')
}

async function followLeg(context: SweepContext, sweep: SweepRow, leg: Leg): Promise<void> {
  const { dependencies, chain_sender } = context
  const transfers = await findSweepTransfers(dependencies.db, sweep, leg)
  const sender = senderOf(chain_sender, sweep, leg)
  const found = await findFate(chain_sender, sender, transfers)
  const [newest] = transfers
  assert(newest !== undefined, 'a leg in progress has its signed bytes')
  switch (found.fate) {
    case 'final':
      return settleSweep(dependencies, sweep, { leg, ok: found.result === 'success' })
    case 'dead': {
      const step = leg === 'fuel' ? 'planned' : 'fuelled'
      await updateStep(dependencies, sweep, { step, attempt: sweep.attempt + 1 })
      return
    }
    case 'mined':
      await updateStep(dependencies, sweep, {})
      return
    case 'unknown':
      await resend(context, sweep, { leg, newest })
  }
}

async function resend(
  context: SweepContext,
  sweep: SweepRow,
  { leg, newest }: { leg: Leg; newest: SentTransferRow },
): Promise<void> {
  const { dependencies, chain_sender } = context
  const isReplaced =
    isStuck(chain_sender, newest, dependencies.clock.now()) &&
    (await replaceLeg(context, sweep, { leg, stuck: newest }))
  if (isReplaced) return
  await chain_sender.broadcast(toStoredTransfer(senderOf(chain_sender, sweep, leg), newest))
  await updateStep(dependencies, sweep, {})
}
