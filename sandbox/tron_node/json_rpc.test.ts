import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createPublicClient, erc20Abi, getAddress, http, type PublicClient } from 'viem'
import { bytesFromTronAddress } from '#rails/chain/tron/address.ts'
import {
  FAKE_USDT_ADDRESS,
  startTronNode,
  type TronNode,
  USDT_ADDRESS,
} from '#sandbox/tron_node.ts'

import type { Block } from './block.ts'
import { Chain } from './chain.ts'
import { Exchange } from './exchange.ts'
import { getLogs } from './rpc_logs.ts'
import { View } from './view.ts'

const DEPOSIT = 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6'

let node: TronNode
let viem: PublicClient

beforeEach(async () => {
  node = await startTronNode({ now: () => 1_790_000_000_000 })
  viem = createPublicClient({ transport: http(`${node.url}/jsonrpc`, { retryCount: 0 }) })
})
afterEach(() => node.stop())

const digitsOf = (address: string) =>
  Buffer.from(bytesFromTronAddress(address) ?? []).toString('hex')

function evmHex(address: string): `0x${string}` {
  return getAddress(`0x${digitsOf(address)}`)
}

async function rpc(body: unknown): Promise<unknown> {
  const answer = await fetch(`${node.url}/jsonrpc`, { method: 'POST', body: JSON.stringify(body) })
  return answer.json()
}

async function codeOf(method: string, params: unknown[]): Promise<unknown> {
  const answer = await rpc({ jsonrpc: '2.0', id: 1, method, params })
  assert(typeof answer === 'object' && answer !== null)
  return 'error' in answer ? (answer.error as { code: number }).code : 'ok'
}

test("viem's public client reads the chain: id, head, finalized and earliest blocks", async () => {
  assert.equal(await viem.getChainId(), 728_126_428)
  assert.equal(await viem.getGasPrice(), 100n)
  const head = node.mine(3)
  assert.equal(await viem.getBlockNumber({ cacheTime: 0 }), BigInt(head.number))
  const [latest, finalized, earliest] = await Promise.all([
    viem.getBlock({ blockTag: 'latest' }),
    viem.getBlock({ blockTag: 'finalized' }),
    viem.getBlock({ blockTag: 'earliest' }),
  ])
  assert.equal(latest.hash, `0x${head.id}`)
  assert.equal(finalized.number, BigInt(head.number - 18))
  assert.equal(earliest.number, 0n)
  const parent = await viem.getBlock({ blockHash: latest.parentHash })
  assert.equal(parent.number, BigInt(head.number - 1))
  assert.equal(BigInt(`0x${latest.hash.slice(2, 18)}`), latest.number, 'the height leads the hash')
})

test('transaction, receipt, block and log of a transfer agree', async () => {
  const txid = node.transferUsdt({ to: DEPOSIT, amount_micros: 5_000_000n })
  const block = node.mine()
  const hash = `0x${txid}` as const
  const [transaction, receipt, full, logs] = await Promise.all([
    viem.getTransaction({ hash }),
    viem.getTransactionReceipt({ hash }),
    viem.getBlock({ blockNumber: BigInt(block.number), includeTransactions: true }),
    viem.getLogs({ blockHash: `0x${block.id}` }),
  ])
  assert.equal(getAddress(String(transaction.to)), evmHex(USDT_ADDRESS))
  assert.equal(receipt.status, 'success')
  assert.equal(receipt.gasUsed, 130_285n)
  assert.equal(receipt.effectiveGasPrice, 100n)
  assert.equal(receipt.type, 'legacy')
  assert.equal(full.transactions[0]?.hash, hash)
  assert.deepEqual(
    logs,
    receipt.logs.map((log) => ({ ...log, removed: false })),
  )
  const all = await rpc({
    id: 1,
    method: 'eth_getBlockReceipts',
    params: [`0x${block.number.toString(16)}`],
  })
  assert.equal((all as { result: unknown[] }).result.length, 1)
})

test('two tokens with the same symbol have separate balances', async () => {
  node.transferUsdt({ to: DEPOSIT, amount_micros: 5n, contract: FAKE_USDT_ADDRESS })
  node.mine()
  const read = (address: string, functionName: 'symbol' | 'decimals') =>
    viem.readContract({ address: evmHex(address), abi: erc20Abi, functionName })
  const balance = (address: string) =>
    viem.readContract({
      address: evmHex(address),
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [evmHex(DEPOSIT)],
    })
  assert.equal(await read(USDT_ADDRESS, 'symbol'), await read(FAKE_USDT_ADDRESS, 'symbol'))
  assert.equal(await read(USDT_ADDRESS, 'decimals'), 6)
  assert.deepEqual([await balance(USDT_ADDRESS), await balance(FAKE_USDT_ADDRESS)], [0n, 5n])
  assert.equal(await viem.getBalance({ address: evmHex(node.exchange) }), node.trxOf(node.exchange))
})

test('logs are filtered by address and by a list of recipients', async () => {
  const others = ['TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C', 'TB7mhtkvfhsRBRhe5FuRa4tFXSEyGDe4eA']
  for (const to of [DEPOSIT, ...others]) node.transferUsdt({ to, amount_micros: 1n })
  node.transferUsdt({ to: DEPOSIT, amount_micros: 2n, contract: FAKE_USDT_ADDRESS })
  node.mine()
  const count = async (address: string | undefined, to: string[]) => {
    const word = (one: string) => `0x${digitsOf(one).padStart(64, '0')}`
    const topics = [null, null, to.map(word)]
    const filter = { fromBlock: '0x0', toBlock: 'latest', topics, ...(address && { address }) }
    const { result } = (await rpc({ id: 1, method: 'eth_getLogs', params: [filter] })) as {
      result: unknown[]
    }
    return result.length
  }
  assert.equal(await count(evmHex(USDT_ADDRESS), [DEPOSIT]), 1)
  assert.equal(await count(evmHex(USDT_ADDRESS), [DEPOSIT, ...others]), 3)
  assert.equal(await count(undefined, [DEPOSIT]), 2)
  assert.equal(await count(`0x41${digitsOf(USDT_ADDRESS)}`, [DEPOSIT]), 1)
})

test('unsupported methods return -32601 and invalid parameters -32602', async () => {
  assert.equal(await codeOf('eth_sendRawTransaction', ['0x00']), -32601)
  assert.equal(await codeOf('eth_getTransactionCount', [evmHex(DEPOSIT), 'latest']), -32601)
  assert.equal(await codeOf('toString', []), -32601)
  for (const tag of ['pending', 'safe', '7', 7]) {
    assert.equal(await codeOf('eth_getBlockByNumber', [tag, false]), -32602)
  }
  assert.equal(await codeOf('eth_getBalance', [evmHex(DEPOSIT), '0x1']), -32602)
  assert.equal(await codeOf('eth_call', [{ to: evmHex(USDT_ADDRESS), data: '0x' }, '0x1']), -32602)
  assert.equal(
    await codeOf('eth_call', [{ to: evmHex(USDT_ADDRESS), data: '0xdeadbeef' }, 'latest']),
    -32000,
  )
})

test('the limits of eth_getLogs and of batches apply', async () => {
  const limits = [
    { fromBlock: '0x0', toBlock: '0x1388' },
    { fromBlock: '0x5', toBlock: '0x4' },
    { address: Array(1001).fill(evmHex(USDT_ADDRESS)) },
    { topics: [Array(1001).fill(`0x${'00'.repeat(32)}`)] },
    { topics: Array(5).fill(null) },
    { blockHash: `0x${'ab'.repeat(32)}` },
    { fromBlock: 'pending' },
  ]
  for (const filter of limits) assert.equal(await codeOf('eth_getLogs', [filter]), -32602)
  assert.equal(await codeOf('eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x1387' }]), 'ok')
  const batch = Array.from({ length: 100 }, (_, id) => ({
    id,
    method: 'eth_blockNumber',
    params: [],
  }))
  assert.equal(((await rpc(batch)) as unknown[]).length, 100)
  assert.equal(Array.isArray(await rpc([...batch, batch[0]])), false)
})

test('more than 10,000 results return -32005', () => {
  const chain = new Chain({
    chain_id: 1,
    now: () => 1_790_000_000_000,
    block_interval_ms: 3_000,
    assets: [{ address: 'ab'.repeat(20), symbol: 'USDT', name: 'Tether USD', decimals: 6 }],
    takeFault: () => false,
  })
  Exchange.fundAtGenesis(chain)
  chain.append(1_790_000_000_000, [])
  chain.append(1_790_000_003_000, [new Exchange(() => chain).unrelatedTransfer()])
  const block = chain.pop()
  const manyLogs = (count: number): Block => ({
    ...block,
    mined: block.mined.map((mined) => {
      const logs = Array(count).fill(mined.receipt.logs[0])
      return { ...mined, receipt: { ...mined.receipt, logs } }
    }),
  })
  chain.adopt(manyLogs(10_000))
  assert.equal(getLogs(new View(chain, {}), [{}]).length, 10_000)
  chain.pop()
  chain.adopt(manyLogs(10_001))
  assert.throws(() => getLogs(new View(chain, {}), [{}]), { code: -32005 })
})
