import { type Lease, withLease } from '#platform/postgres/lease.ts'
import type { ChainSender } from '#rails/chain/sender.ts'
import type { WithdrawalRow } from './withdrawal.ts'
import type { WithdrawalDependencies } from './withdrawal_dependencies.ts'
import { postpone } from './withdrawal_store.ts'

type Run = (dependencies: WithdrawalDependencies, chain_sender: ChainSender) => Promise<void>

/** Sending, confirming and sweeping take turns: one of them uses a hot wallet, on one node. */
export async function withHotWallet(
  dependencies: WithdrawalDependencies,
  chain_sender: ChainSender,
  run: Run,
): Promise<void> {
  const { name } = chain_sender.chain
  await withLease(dependencies.db, `withdrawals:${name}`, (lease) =>
    run(...guardWithLease(lease, dependencies, chain_sender)),
  )
}

/** A node that has lost its lease can no longer sign, send or write. */
export function guardWithLease(
  lease: Lease,
  dependencies: WithdrawalDependencies,
  chain_sender: ChainSender,
): [WithdrawalDependencies, ChainSender] {
  const { db, signer } = dependencies
  return [
    { ...dependencies, db: lease.guard(db), signer: lease.guard(signer) },
    lease.guard(chain_sender),
  ]
}

export function dueFilter<Step extends 'reserved' | 'signed'>(
  { clock }: WithdrawalDependencies,
  { chain }: ChainSender,
  step: Step,
) {
  return { chain: chain.name, step, now: clock.now() }
}

/** The next run begins with the others: a withdrawal that always fails must not stop them. */
export function putLast({ db, clock }: WithdrawalDependencies, withdrawal: WithdrawalRow) {
  return async (cause: unknown): Promise<never> => {
    await postpone(db, withdrawal, clock.now())
    throw cause
  }
}
