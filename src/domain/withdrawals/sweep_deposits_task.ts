import { assert } from '#kernel/assert.ts'
import { microsFromUsd } from '#kernel/money.ts'
import { withLease } from '#platform/lease.ts'
import type { Task } from '#platform/tasks.ts'
import type { Outlet, Payment } from '#rails/chain/outlet.ts'
import type { TransferIntent } from '#rails/signer/intent.ts'
import { leaseOf, type SendingParts } from './send_withdrawals_task.ts'
import { findOpenSweeps, planSweeps, type SweepRow, updateSweep } from './sweep_store.ts'

/** Sweeping is never urgent: the customer has the money since it was credited. */
const EVERY_MS = 5_000
const RETRY_MS = 3_000

/**
 * Brings what has gathered on deposit addresses to the hot wallet: first the coins that the sweep
 * costs, then the asset. It shares the withdrawals' lease, for both spend the hot wallet.
 */
export function sweepDepositsTask(parts: SendingParts): Task {
  return {
    name: 'sweep_deposits',
    every_ms: EVERY_MS,
    pass: async () => {
      for (const outlet of parts.outlets) {
        await withLease(parts.db, leaseOf(outlet), () => sweepChain(parts, outlet))
      }
    },
  }
}

async function sweepChain(parts: SendingParts, outlet: Outlet): Promise<void> {
  const { db, clock } = parts
  const { chain } = outlet
  const [asset] = chain.assets
  assert(asset !== undefined, 'a chain has an asset')
  const minimum_micros = microsFromUsd(chain.settings.sweep_min_usd)
  const now = clock.now()
  await planSweeps(db, { chain: chain.name, asset: asset.asset, minimum_micros, now })
  for (const sweep of await findOpenSweeps(db, chain.name, now)) {
    await advance({ parts, outlet }, sweep)
  }
}

type Sweeping = { parts: SendingParts; outlet: Outlet }

/** One step; what is signed is stored before it is sent, as with withdrawals. */
async function advance(sweeping: Sweeping, sweep: SweepRow): Promise<void> {
  switch (sweep.step) {
    case 'planned': {
      const fuel = await sweeping.outlet.fuelFor(paymentOf(sweeping.outlet, sweep))
      if (fuel === 0n) return void (await step(sweeping, sweep, { step: 'fuelled', attempt: 1 }))
      return sign(sweeping, sweep, { next: 'fuelling', fuel })
    }
    case 'fuelled':
      return sign(sweeping, sweep, { next: 'sweeping', fuel: null })
    case 'fuelling':
      return follow(sweeping, sweep, { done: 'fuelled', again: 'planned' })
    case 'sweeping':
      return follow(sweeping, sweep, { done: 'done', again: 'fuelled' })
  }
}

function paymentOf({ chain }: Outlet, sweep: SweepRow): Payment {
  return {
    from: sweep.address,
    to: chain.hot_wallet,
    contract: chain.asset(sweep.asset)?.contract ?? null,
    amount: sweep.value_micros,
    last_nonce: null,
  }
}

type Signing = { next: 'fuelling' | 'sweeping'; fuel: bigint | null }

async function sign(sweeping: Sweeping, sweep: SweepRow, signing: Signing): Promise<void> {
  const { parts, outlet } = sweeping
  const outcome = await parts.signer.sign(await intentOf(outlet, sweep, signing.fuel))
  if (!outcome.ok) {
    const fields = { address: outlet.chain.showAddress(sweep.address), refusal: outcome.refusal }
    parts.log.error('the signer refused a sweep', fields, new Error(outcome.refusal))
    // What fuel costs has changed since it was signed for: another sweep starts afresh.
    const isStale = signing.fuel !== null && outcome.refusal === 'intent_conflict'
    return void (await step(sweeping, sweep, isStale ? { step: 'failed' } : {}))
  }
  const { expires_at_ms, nonce: _, ...signed } = outcome.transfer
  const expires_at = expires_at_ms === null ? null : new Date(expires_at_ms)
  const stored = await step(sweeping, sweep, { ...signed, expires_at, step: signing.next })
  if (stored !== null) await outlet.broadcast({ ...signed, expires_at, nonce: null })
}

async function intentOf(
  outlet: Outlet,
  sweep: SweepRow,
  fuel: bigint | null,
): Promise<TransferIntent> {
  const { chain } = outlet
  const payment = paymentOf(outlet, sweep)
  const isFuel = fuel !== null
  const amount = fuel ?? payment.amount
  const contract = payment.contract === null ? null : chain.showAddress(payment.contract)
  const facts = isFuel
    ? { ...payment, from: chain.hot_wallet, to: sweep.address, contract: null, amount }
    : payment
  return {
    id: `${isFuel ? 'fuel' : 'sweep'}:${chain.name}:${sweep.address}:${sweep.number}`,
    attempt: sweep.attempt,
    purpose: isFuel ? 'fuel' : 'sweep',
    chain: chain.name,
    contract: isFuel ? null : contract,
    deposit_index: Number(sweep.address_index),
    to: chain.showAddress(isFuel ? sweep.address : chain.hot_wallet),
    amount: amount.toString(),
    network: await outlet.networkFacts(facts),
    approval: null,
  }
}

type Ends = { done: 'fuelled' | 'done'; again: 'planned' | 'fuelled' }

async function follow(sweeping: Sweeping, sweep: SweepRow, ends: Ends): Promise<void> {
  const { outlet } = sweeping
  const { txid, raw, signature, expires_at } = sweep
  assert(txid !== null && raw !== null && signature !== null, 'what is under way has its bytes')
  const transfer = { txid, raw, signature, expires_at, nonce: null }
  const found = await outlet.lookup(transfer)
  if (found.fate === 'dead') {
    const change = { step: ends.again, attempt: sweep.attempt + 1 } as const
    return void (await step(sweeping, sweep, change))
  }
  if (found.fate === 'final') {
    const change = found.ok ? { step: ends.done, attempt: 1 } : ({ step: 'failed' } as const)
    return void (await step(sweeping, sweep, change))
  }
  if (found.fate === 'unknown') await outlet.broadcast(transfer)
  await step(sweeping, sweep, {})
}

function step(
  { parts }: Sweeping,
  sweep: SweepRow,
  change: Partial<SweepRow>,
): Promise<SweepRow | null> {
  const now = parts.clock.now()
  const pause_ms = change.step === undefined || change.step.endsWith('ing') ? RETRY_MS : 0
  const next_try_at = new Date(now.getTime() + pause_ms)
  return updateSweep(parts.db, sweep, change, { now, next_try_at })
}
