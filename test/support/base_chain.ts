import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createWalletClient, type Hex, http, parseAbi, publicActions } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { root } from '#platform/runtime/root.ts'
import { CHAIN_ID, USDC } from '#rails/x402/requirement.ts'
import { ganache } from '#test/packages/ganache.ts'
import { ACCOUNT_CELL } from './account_cell.ts'
import { serveEvm } from './serve_evm.ts'

const abi = parseAbi([
  'function mint(address to, uint256 value)',
  'function balanceOf(address owner) view returns (uint256)',
  'function transferWithAuthorization(address, address, uint256, uint256, uint256, bytes32, bytes)',
])

const { runtime } = JSON.parse(readFileSync(join(root, 'test/fixtures/evm/usdc.json'), 'utf8')) as {
  runtime: Hex
}

/** A real EVM with Base's chain ID and, at USDC's address, a token with EIP-3009. */
export async function startBaseChain(data_dir: string) {
  const [banker, ...relayers] = [generatePrivateKey(), generatePrivateKey(), generatePrivateKey()]
  const url = await serveEvm(
    ganache.provider({
      chain: { chainId: CHAIN_ID, networkId: CHAIN_ID, hardfork: 'shanghai' },
      wallet: {
        accounts: [banker, ...relayers].map((secretKey) => ({ secretKey, balance: 10n ** 20n })),
      },
      logging: { quiet: true },
    }),
  )
  const client = createWalletClient({
    account: privateKeyToAccount(banker),
    chain: base,
    transport: http(url),
  }).extend(publicActions)
  await client.request({ method: 'evm_setAccountCode', params: [USDC, runtime] } as never)
  const cells = relayers.map((relayer, cell) => {
    const key_file = join(data_dir, `relayer_${cell}.key`)
    writeFileSync(key_file, `${relayer}\n`, { mode: 0o600 })
    return { key_file, pay_to: privateKeyToAccount(relayer).address }
  })
  const [home, second] = cells
  const pay_to = cells[ACCOUNT_CELL]?.pay_to
  assert(home !== undefined && pay_to !== undefined)
  const balanceOf = (address: Hex) =>
    client.readContract({ address: USDC, abi, functionName: 'balanceOf', args: [address] })
  return {
    url,
    client,
    /** Of the cell with the accounts. */
    pay_to,
    balanceOf,
    /** A new wallet with this balance. */
    payer: async (micros: bigint): Promise<PrivateKeyAccount> => {
      const account = privateKeyToAccount(generatePrivateKey())
      await give(account.address, micros)
      return account
    },
    give,
    /** Stops or resumes mining. */
    mining: (isOn: boolean) =>
      client.request({ method: isOn ? 'miner_start' : 'miner_stop', params: [] } as never),
    env: (prices: object) => ({
      FLORIN_PAID_OPERATIONS: JSON.stringify(prices),
      FLORIN_X402_RPC_URL: url,
      FLORIN_X402_KEY_FILE: home.key_file,
      FLORIN_X402_PAY_TO: home.pay_to,
      FLORIN_X402_CELLS: JSON.stringify({ 1: second }),
    }),
  }

  async function give(to: Hex, micros: bigint): Promise<void> {
    if (micros === 0n) return
    const args = [to, micros] as const
    const hash = await client.writeContract({ address: USDC, abi, functionName: 'mint', args })
    const { status } = await client.waitForTransactionReceipt({ hash })
    assert.equal(status, 'success')
  }
}
