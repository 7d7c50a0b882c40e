import { assert } from '#kernel/assert.ts'
import { type Micros, microsFromUsd } from '#kernel/money.ts'
import { forEachAlone } from '#platform/runtime/for_each_alone.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Chain } from '#rails/chain/chain.ts'
import { type ChainSender, TransferRefused } from '#rails/chain/sender.ts'
import { settleSweep, updateStep } from './advance_sweep.ts'
import { withHotWallet } from './hot_wallet_runs.ts'
import { findOutcome, isStuck, type SentTransferRow, toStoredTransfer } from './sent_transfers.ts'
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
 * address (fuel), then the asset back. It takes turns with withdrawals: both use the hot wallet.
 */
export function sweepDepositsTask(dependencies: WithdrawalDependencies): Task {
  return {
    name: 'sweep_deposits',
    every_ms: EVERY_MS,
    idle_ms: IDLE_MS,
    run: () =>
      forEachAlone(dependencies.chain_senders, (chain_sender) =>
        withHotWallet(dependencies, chain_sender, sweepChain),
      ),
  }
}

const minimumOf = ({ chain }: ChainSender): Micros => microsFromUsd(chain.settings.sweep_min_usd)

async function sweepChain(
  dependencies: WithdrawalDependencies,
  chain_sender: ChainSender,
): Promise<void> {
  const { chain } = chain_sender
  const minimum_micros = minimumOf(chain_sender)
  const now = dependencies.clock.now()
  await planSweeps(dependencies.db, { chain: chain.name, minimum_micros, now })
  for (const sweep of await findOpenSweeps(dependencies.db, chain.name, now)) {
    const context = { dependencies, chain_sender }
    await advanceSweep(context, sweep).catch((cause: unknown) =>
      postponeFailed(context, sweep, cause),
    )
  }
}

/**
 * A sweep that always fails must not stop the others. The node refuses one whose coins were swept
 * before, which the database has forgotten if it was restored; that sweep ends.
 */
async function postponeFailed(
  context: SweepContext,
  sweep: SweepRow,
  cause: unknown,
): Promise<void> {
  const { db, clock, log } = context.dependencies
  const { chain } = context.chain_sender
  const isRefused = cause instanceof TransferRefused
  await postponeSweep(db, sweep, new Date(clock.now().getTime() + (isRefused ? REFUSED_MS : 0)))
  if (!isRefused) throw cause
  log.error('the node refused a sweep', fieldsOf(chain, sweep), cause)
  if ((await heldOf(context, sweep)) < sweep.value_micros) await endShort(context, sweep)
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

const fieldsOf = (chain: Chain, { address }: SweepRow) => ({
  chain: chain.name,
  address: chain.showAddress(address),
})

const heldOf = ({ chain_sender }: SweepContext, sweep: SweepRow): Promise<bigint> =>
  chain_sender.assetBalance(paymentOf(chain_sender, sweep))

async function endShort(
  { dependencies, chain_sender: { chain } }: SweepContext,
  sweep: SweepRow,
): Promise<void> {
  const cause = new Error('fewer coins are there than in the books')
  dependencies.log.error('a sweep has ended', fieldsOf(chain, sweep), cause)
  await settleSweep(dependencies, sweep, { leg: 'asset', ok: false })
}

/** A new sweep takes the coins that are there; null if they are not worth the fee. */
async function limitToHeld(context: SweepContext, sweep: SweepRow): Promise<SweepRow | null> {
  const held = await heldOf(context, sweep)
  if (held >= sweep.value_micros) return sweep
  if (held >= minimumOf(context.chain_sender) && held > 0n) return { ...sweep, value_micros: held }
  await endShort(context, sweep)
  return null
}

/** The amounts are stored before they are signed: an intent must have the same ones every time. */
async function signFuel(context: SweepContext, planned: SweepRow): Promise<void> {
  const { dependencies, chain_sender } = context
  const sweep = planned.fuel === null ? await limitToHeld(context, planned) : planned
  if (sweep === null) return
  const { value_micros } = sweep
  const fuel = sweep.fuel ?? (await chain_sender.missingFuel(paymentOf(chain_sender, sweep)))
  const change = fuel === 0n ? ({ step: 'fuelled', attempt: 1 } as const) : { fuel }
  const updated = await updateStep(dependencies, sweep, { ...change, value_micros })
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
  const found = await findOutcome(chain_sender, sender, transfers)
  const [newest] = transfers
  assert(newest !== undefined, 'a leg in progress has its signed bytes')
  switch (found.outcome) {
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
