import { auditDepositsTask } from '#domain/topups/audit_deposits_task.ts'
import { expireTopupsTask } from '#domain/topups/expire_topups_task.ts'
import { watchDepositsTask } from '#domain/topups/watch_deposits_task.ts'
import { confirmWithdrawalsTask } from '#domain/withdrawals/confirm_withdrawals_task.ts'
import { sendWithdrawalsTask } from '#domain/withdrawals/send_withdrawals_task.ts'
import { sweepDepositsTask } from '#domain/withdrawals/sweep_deposits_task.ts'
import type { Seams } from '#platform/context.ts'
import { nodeFetch } from '#platform/node_fetch.ts'
import type { Task } from '#platform/tasks.ts'
import { auditSource } from '#rails/chain/audit_source.ts'
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
  const audited = chains.map((chain) => ({ chain, source: auditSource(chain, fetch) }))
  const outlets = watched.map(({ chain, source }) => {
    const { family, url, headers } = chain.settings
    return family === 'tron'
      ? tronOutlet(chain, tronHttpApi({ url, headers: { ...headers }, fetch }))
      : evmOutlet(chain, source, fetch)
  })
  const signer = signerClient(seams.settings.signer_socket, seams.clock)
  const sending = { ...seams, signer, outlets }
  return [
    watchDepositsTask(seams, watched),
    auditDepositsTask(seams, audited),
    expireTopupsTask(seams),
    sendWithdrawalsTask(sending),
    confirmWithdrawalsTask(sending),
    sweepDepositsTask(sending),
  ]
}
