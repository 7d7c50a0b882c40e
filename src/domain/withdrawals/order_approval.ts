import type { Micros } from '#kernel/money.ts'
import type { Keys } from '#platform/storage/keys.ts'
import type { Chain, ChainAsset } from '#rails/chain/chain.ts'
import { APPROVAL_PURPOSE, approvalOf } from '#rails/signer/intent.ts'

type PaymentOrder = { id: string; chain: Chain; asset: ChainAsset; to: string; net_micros: Micros }

/** An HMAC that lets the signer verify that the service ordered exactly this payment. */
export function orderApproval(
  keys: Keys,
  { id, chain, asset, to, net_micros }: PaymentOrder,
): string {
  return approvalOf(keys.materials(APPROVAL_PURPOSE, 32)[0], {
    id,
    chain: chain.name,
    contract: chain.showAddress(asset.contract),
    to,
    amount: net_micros.toString(),
  })
}
