import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { hexToBytes } from '@noble/hashes/utils.js'
import { createWalletClient, type Hex, http, parseAbi, publicActions } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { mainnet } from 'viem/chains'
import type { Dependencies } from '#domain/context/context.ts'
import { Secret } from '#kernel/secret.ts'
import { evmAddressFromBytes } from '#rails/chain/evm/address.ts'
import { walletFromPhrase } from '#rails/signer/wallet.ts'
import { assetBytecode } from '#test/fixtures/evm/asset.ts'
import { ganache } from '#test/packages/ganache.ts'
import { serveEvm } from './serve_evm.ts'
import { startTestService } from './start.ts'

export const PHRASE = 'test test test test test test test test test test test junk'
/** The node's own accounts, which belong to outsiders. */
const OUTSIDE_PHRASE = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
const COIN = 10n ** 18n
export const CONFIRMATIONS = 4

const asset_abi = parseAbi([
  'function transfer(address,uint256) returns (bool)',
  'function balanceOf(address) view returns (uint256)',
])

/** A real Ethereum node with a token, all of which an outsider owns. */
export async function startEvmNode() {
  const url = await serveEvm(
    ganache.provider({
      chain: { chainId: 1, hardfork: 'shanghai' },
      wallet: { mnemonic: OUTSIDE_PHRASE, totalAccounts: 3 },
      logging: { quiet: true },
    }),
  )
  const outside = createWalletClient({
    account: mnemonicToAccount(OUTSIDE_PHRASE),
    chain: mainnet,
    transport: http(url),
  }).extend(publicActions)
  // Counted here, because for a moment after a block the node reports a nonce too low or too high.
  let nonce = 0
  const nextNonce = () => {
    nonce += 1
    return nonce - 1
  }
  const nonce_of_snapshot = new Map<unknown, number>()
  const rpc = async (method: string, params: unknown[] = []): Promise<unknown> => {
    const result = await outside.request({ method: method as never, params: params as never })
    if (method === 'evm_snapshot') nonce_of_snapshot.set(result, nonce)
    if (method === 'evm_revert') nonce = nonce_of_snapshot.get(params[0]) ?? nonce
    return result
  }
  const deploy = async (decimals?: number): Promise<Hex> => {
    const data = assetBytecode(decimals) as Hex
    const hash = await outside.sendTransaction({ data, nonce: nextNonce() })
    const { contractAddress } = await outside.waitForTransactionReceipt({ hash })
    assert(contractAddress)
    return contractAddress
  }
  const asset = await deploy()
  return {
    url,
    outside,
    rpc,
    deploy,
    asset,
    mine: async (count: number) => {
      for (let left = count; left > 0; left -= 1) await rpc('evm_mine')
    },
    pay: (to: string, micros: bigint, contract: Hex = asset) =>
      outside.writeContract({
        address: contract,
        abi: asset_abi,
        functionName: 'transfer',
        args: [to as Hex, micros],
        gas: 200_000n,
        nonce: nextNonce(),
      }),
    giveCoins: (to: string, wei = COIN) =>
      outside.sendTransaction({ to: to as Hex, value: wei, nonce: nextNonce() }),
    held: (address: string, contract: Hex = asset) =>
      outside.readContract({
        address: contract,
        abi: asset_abi,
        functionName: 'balanceOf',
        args: [address as Hex],
      }),
  }
}

export type EvmNode = Awaited<ReturnType<typeof startEvmNode>>

/** A service with the sandbox's chain and Ethereum, connected to this node. */
export async function startEvmService(
  node: EvmNode,
  chain: Record<string, unknown> = {},
  dependencies: Partial<Dependencies> = {},
) {
  // The sandbox's signer reads its seed from here, so this chain's keys are known.
  const data_dir = mkdtempSync(join(tmpdir(), 'florin_evm_'))
  writeFileSync(join(data_dir, 'sandbox_seed'), `${PHRASE}\n`)
  const wallet = walletFromPhrase(new Secret(PHRASE))
  const hot_wallet = evmAddressFromBytes(hexToBytes(wallet.addressOf('evm', null)))
  const ethereum = {
    chain: 'ethereum',
    family: 'evm',
    url: node.url,
    xpub: wallet.xpub('evm'),
    hot_wallet,
    assets: [{ asset: 'USDC', contract: node.asset }],
    chain_id: 1,
    confirmations: CONFIRMATIONS,
    finality: 'confirmations',
    start_block: 0,
    ...chain,
  }
  const service = await startTestService({
    data_dir,
    dependencies,
    env: { FLORIN_CHAINS: JSON.stringify([ethereum]) },
  })
  after(() => rmSync(data_dir, { recursive: true, force: true }))
  return { ...service, hot_wallet }
}
