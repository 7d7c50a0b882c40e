import type { TopupDependencies } from '#domain/topups/topup_dependencies.ts'
import type { Fail } from '#platform/runtime/failpoints.ts'
import type { Metrics } from '#platform/runtime/metrics.ts'
import type { ChainSender } from '#rails/chain/sender.ts'
import type { SignerClient } from '#rails/signer/client.ts'

/** The parts of the service that the tasks of this room use; a refund also updates its top-up. */
export type WithdrawalDependencies = TopupDependencies & {
  fail: Fail
  metrics: Pick<Metrics, 'held_withdrawals'>
  signer: SignerClient
  /** One for each chain. */
  chain_senders: readonly ChainSender[]
}
