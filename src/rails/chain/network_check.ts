import type { Chain } from './chain.ts'
import type { DepositSource } from './deposit_source.ts'

/** The node, or a contract on it, is not what the settings name: nothing is done on that chain. */
export class WrongNetwork extends Error {}

export type NetworkCheck = () => Promise<void>

/**
 * Asks, until it was right once, whether the node is on the configured network and whether each
 * asset counts in the configured decimals: 18 instead of 6 would credit a trillion times too much.
 */
export function networkCheck(
  chain: Pick<Chain, 'name' | 'settings' | 'assets' | 'showAddress'>,
  source: Pick<DepositSource, 'chainId' | 'decimals'>,
): NetworkCheck {
  let isRight = false
  return async () => {
    if (isRight) return
    const chain_id = await source.chainId()
    if (chain_id !== chain.settings.chain_id) {
      throw new WrongNetwork(`the node of ${chain.name} is on another network, ${chain_id}`)
    }
    for (const { asset, contract, decimals } of chain.assets) {
      const found = await source.decimals(contract)
      if (found === decimals) continue
      const says = found === null ? 'does not say its decimals' : `has ${found} decimals`
      throw new WrongNetwork(
        `${asset} at ${chain.showAddress(contract)} ${says}; ${decimals} are configured`,
      )
    }
    isRight = true
  }
}
