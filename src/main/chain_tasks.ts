import type { Dependencies } from '#domain/context/context.ts'
import { auditDepositsTask } from '#domain/topups/audit_deposits_task.ts'
import { expireTopupsTask } from '#domain/topups/expire_topups_task.ts'
import { watchDepositsTask } from '#domain/topups/watch_deposits_task.ts'
import { confirmWithdrawalsTask } from '#domain/withdrawals/confirm_withdrawals_task.ts'
import { sendWithdrawalsTask } from '#domain/withdrawals/send_withdrawals_task.ts'
import { sweepDepositsTask } from '#domain/withdrawals/sweep_deposits_task.ts'
import { nodeFetch } from '#platform/http_client/node_fetch.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { auditSource } from '#rails/chain/audit_source.ts'
import { chainsOf } from '#rails/chain/chain.ts'
import { depositSource } from '#rails/chain/deposit_source.ts'
import { evmSender } from '#rails/chain/evm/sender.ts'
import { checkedSender, networkCheck } from '#rails/chain/network_check.ts'
import { tronHttpApi } from '#rails/chain/tron/http_api.ts'
import { tronSender } from '#rails/chain/tron/sender.ts'
import { signerClient } from '#rails/signer/client.ts'

/** A node that takes longer counts as unavailable: the next run tries again. */
const NODE_TIMEOUT_MS = 10_000

/** The tasks of the configured chains, in the order in which they depend on each other. */
export function chainTasks(dependencies: Dependencies): Task[] {
  const chains = [...chainsOf(dependencies.settings.chains).values()]
  if (chains.length === 0) return []
  const fetch = nodeFetch(NODE_TIMEOUT_MS)
  const watched = chains.map((chain) => {
    const source = depositSource(chain.settings, fetch)
    return { chain, source, check: networkCheck(chain, source) }
  })
  const audited = watched.map(({ chain, check }) => ({
    chain,
    source: auditSource(chain, fetch),
    check,
  }))
  const chain_senders = watched.map(({ chain, source, check }) => {
    const { family, url, headers } = chain.settings
    return checkedSender(
      family === 'tron'
        ? tronSender(chain, tronHttpApi({ url, headers: { ...headers }, fetch }))
        : evmSender(chain, source, fetch),
      check,
    )
  })
  const signer = signerClient(dependencies.settings.signer_socket, dependencies.clock)
  const sending = { ...dependencies, signer, chain_senders }
  return [
    watchDepositsTask(dependencies, watched),
    auditDepositsTask(dependencies, audited),
    expireTopupsTask(dependencies),
    sendWithdrawalsTask(sending),
    confirmWithdrawalsTask(sending),
    sweepDepositsTask(sending),
  ]
}
