import type { Chain } from './chain.ts'
import type { DepositSource } from './deposit_source.ts'
import type { ChainSender } from './sender.ts'

/** The node or a contract does not match the settings; the chain is not used. */
export class WrongNetwork extends Error {}

export type NetworkCheck = () => Promise<void>

/**
 * Checks until the first success that the node is on the configured network and that each asset
 * has the configured decimals: 18 instead of 6 would credit a trillion times too much.
 */
export function networkCheck(
  chain: Pick<Chain, 'name' | 'settings' | 'assets' | 'showAddress'>,
  source: Pick<DepositSource, 'chainId' | 'decimals'>,
): NetworkCheck {
  let is_checked = false
  return async () => {
    if (is_checked) return
    const chain_id = await source.chainId()
    if (chain_id !== chain.settings.chain_id) {
      throw new WrongNetwork(`the node of ${chain.name} is on another network, ${chain_id}`)
    }
    for (const { asset, contract, decimals } of chain.assets) {
      const actual = await source.decimals(contract)
      if (actual === decimals) continue
      const fault = actual === null ? 'has no decimals()' : `has ${actual} decimals`
      throw new WrongNetwork(
        `${asset} at ${chain.showAddress(contract)} ${fault}; ${decimals} are configured`,
      )
    }
    is_checked = true
  }
}

/**
 * Believes a node only after the check. A node of another network has none of our transfers: on
 * TRON they would count as expired, and each would be signed and paid again.
 */
export function checkedSender(chain_sender: ChainSender, check: NetworkCheck): ChainSender {
  return {
    ...chain_sender,
    networkParameters: async (payment) => {
      await check()
      return chain_sender.networkParameters(payment)
    },
    missingFuel: async (payment) => {
      await check()
      return chain_sender.missingFuel(payment)
    },
    assetBalance: async (payment) => {
      await check()
      return chain_sender.assetBalance(payment)
    },
    lookup: async (transfer) => {
      await check()
      return chain_sender.lookup(transfer)
    },
    findNonceUser: async (transfer) => {
      await check()
      return chain_sender.findNonceUser(transfer)
    },
  }
}
