import { withEmails } from '#domain/accounts/account_emails.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { usdFromMicros } from '#kernel/money.ts'
import { chainsOf } from '#rails/chain/chain.ts'
import { pageOfHeld } from './suspense_store.ts'

export const operatorListHeldDeposits: OperatorHandler<'operator_list_held_deposits'> = async (
  { tx, settings },
  input,
) => {
  const page = await pageOfHeld(tx, input)
  const chains = chainsOf(settings.chains)
  const data = page.data.map((row) => {
    const chain = chains.get(row.chain)
    return {
      id: row.id,
      account_id: row.account_id,
      topup_id: row.topup_id,
      chain: row.chain,
      txid: chain?.showTxid(row.txid) ?? row.txid,
      from_address: chain?.showAddress(row.from_address) ?? row.from_address,
      amount_usd: usdFromMicros(row.value_micros),
      reason: row.held_reason,
      created_at: row.created_at.toISOString(),
    }
  })
  return withEmails(tx, { ...page, data })
}
