import { auditDepositsTask } from '#domain/topups/audit_deposits_task.ts'
import { expireTopupsTask } from '#domain/topups/expire_topups_task.ts'
import { watchDepositsTask } from '#domain/topups/watch_deposits_task.ts'
import { confirmWithdrawalsTask } from '#domain/withdrawals/confirm_withdrawals_task.ts'
import { sendWithdrawalsTask } from '#domain/withdrawals/send_withdrawals_task.ts'
import { sweepDepositsTask } from '#domain/withdrawals/sweep_deposits_task.ts'
import type { Seams } from '#platform/context.ts'
import { nodeFetch } from '#platform/node_fetch.ts'
import type { Task } from '#platform/tasks.ts'
import { chainsOf } from '#rails/chain/chain.ts'
import { depositSource } from '#rails/chain/deposit_source.ts'
import { evmOutlet } from '#rails/chain/evm/outlet.ts'
import { tronHttpApi } from '#rails/chain/tron/http_api.ts'
import { tronOutlet } from '#rails/chain/tron/outlet.ts'
import { signerClient } from '#rails/signer/client.ts'

/** A node that takes longer is as good as away: the next pass asks again. */
const NODE_TIMEOUT_MS = 10_000

/** Everything that talks to the configured chains, in the order in which a moment is worked off. */
export function chainTasks(seams: Seams): Task[] {
  const chains = [...chainsOf(seams.settings.chains).values()]
  if (chains.length === 0) return []
  const fetch = nodeFetch(NODE_TIMEOUT_MS)
  const watched = chains.map((chain) => ({ chain, source: depositSource(chain.settings, fetch) }))
  const audited = chains
    .filter(({ settings }) => settings.family === 'tron')
    .map((chain) => {
      const { url, headers } = chain.settings
      return { chain, api: tronHttpApi({ url, headers: { ...headers }, fetch }) }
    })
  const tron_outlets = audited.map(({ chain, api }) => tronOutlet(chain, api))
  const evm_outlets = watched
    .filter(({ chain }) => chain.settings.family === 'evm')
    .map(({ chain, source }) => evmOutlet(chain, source, fetch))
  const outlets = [...tron_outlets, ...evm_outlets]
  const signer = signerClient(seams.settings.signer_socket, seams.clock)
  const sending = { ...seams, signer, outlets }
  return [
    watchDepositsTask(seams, watched),
    auditDepositsTask(seams, audited),
    expireTopupsTask(seams),
    sendWithdrawalsTask(sending),
    confirmWithdrawalsTask(sending),
    // EVM deposit addresses are swept by hand: the hot wallet's order has one owner, withdrawals.
    sweepDepositsTask({ ...sending, outlets: tron_outlets }),
  ]
}
