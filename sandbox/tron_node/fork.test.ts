import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createPublicClient, getAddress, http, type PublicClient, parseAbiItem } from 'viem'
import { bytesFromTronAddress } from '#rails/chain/tron/address.ts'
import { tronHttpApi } from '#rails/chain/tron/http_api.ts'
import { startTronNode, type TronNode, USDT_ADDRESS } from '#sandbox/tron_node.ts'

const DEPOSIT = 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6'
const SENDER = 'TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C'
const transfer_log = parseAbiItem(
  'event Transfer(address indexed from, address indexed to, uint256 value)',
)

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

/** The deposit watcher's query: transfers of the token to the address in all blocks. */
function deposits() {
  return viem.getLogs({
    address: evmHex(USDT_ADDRESS),
    event: transfer_log,
    args: { to: evmHex(DEPOSIT) },
    fromBlock: 0n,
    toBlock: 'latest',
  })
}

test('a fork drops a transfer: no log, no receipt, no balance, another head', async () => {
  const txid = node.transferUsdt({ to: DEPOSIT, amount_micros: 5_000_000n })
  const orphan = node.mine()
  assert.equal((await deposits()).length, 1)

  assert.deepEqual(node.reorg({ depth: 1 }), { kept: [], dropped: [txid] })
  assert.deepEqual(await deposits(), [])
  assert.equal(node.balanceOf(DEPOSIT), 0n)
  await assert.rejects(viem.getTransactionReceipt({ hash: `0x${txid}` }), /not be found/)
  await assert.rejects(viem.getBlock({ blockHash: `0x${orphan.id}` }), /not be found/)
  const replaced = await viem.getBlock({ blockNumber: BigInt(orphan.number) })
  assert.notEqual(replaced.hash, `0x${orphan.id}`)
  assert.equal(node.head().number, orphan.number + 1, 'the longer branch wins')
})

test('a fork re-mines a transfer at its height: another log index, the same ordinal', async () => {
  const txid = node.transferUsdt({ to: DEPOSIT, amount_micros: 5_000_000n })
  node.mine(3)
  const [before] = await deposits()
  assert.deepEqual(node.reorg({ depth: 3, keep: [txid] }).kept, [txid])
  const [after] = await deposits()
  assert.equal(before?.logIndex, 0)
  assert.equal(after?.logIndex, 1)
  assert.equal(after?.blockNumber, before?.blockNumber)
  assert.notEqual(after?.blockHash, before?.blockHash)
  const receipt = await viem.getTransactionReceipt({ hash: `0x${txid}` })
  assert.equal(receipt.blockHash, after?.blockHash)
  assert.equal(
    receipt.logs.findIndex(({ logIndex }) => logIndex === after?.logIndex),
    0,
  )
  assert.equal(node.balanceOf(DEPOSIT), 5_000_000n)
})

test('an orphan can return to the pool and be mined later', async () => {
  const txid = node.transferUsdt({ to: DEPOSIT, amount_micros: 1n })
  node.mine()
  assert.deepEqual(node.reorg({ depth: 1, keep: 'pool' }).dropped, [txid])
  assert.deepEqual(await deposits(), [])
  const again = node.mine()
  assert.equal((await deposits())[0]?.blockNumber, BigInt(again.number))
})

test("a sender's transfer survives with the transfer that funded it", async () => {
  const txid = node.transferUsdt({ to: DEPOSIT, amount_micros: 3n, from: SENDER })
  node.mine()
  const [log] = await deposits()
  assert.equal(log?.args.from, evmHex(SENDER))
  node.reorg({ depth: 1, keep: [txid] })
  assert.equal(node.balanceOf(DEPOSIT), 3n)
  assert.equal(node.balanceOf(SENDER), 0n)
})

test('any number of forks neither creates nor destroys money', () => {
  const total = () =>
    node.balanceOf(DEPOSIT) + node.balanceOf(SENDER) + node.balanceOf(node.exchange)
  const supply = total()
  for (let round = 0; round < 5; round += 1) {
    node.transferUsdt({ to: DEPOSIT, amount_micros: 10n, from: SENDER })
    node.transferUsdt({ to: SENDER, amount_micros: 10n })
    node.mine(2)
    node.reorg({ depth: 2, keep: round % 2 === 0 ? 'none' : 'pool' })
  }
  assert.equal(total(), supply)
})

test('two transfers to one address in one block are two logs', async () => {
  node.transferUsdt({ to: DEPOSIT, amount_micros: 7n })
  node.transferUsdt({ to: DEPOSIT, amount_micros: 7n })
  node.mine()
  const logs = await deposits()
  assert.deepEqual(
    logs.map(({ logIndex }) => logIndex),
    [0, 1],
  )
  assert.equal(new Set(logs.map(({ transactionHash }) => transactionHash)).size, 2)
})

test('a forced failure is mined with REVERT and no log; a fork may undo it', async () => {
  node.fault({ kind: 'reverted_transfer', to: DEPOSIT })
  const txid = node.transferUsdt({ to: DEPOSIT, amount_micros: 7n })
  node.mine()
  assert.deepEqual(await deposits(), [])
  assert.equal((await viem.getTransactionReceipt({ hash: `0x${txid}` })).status, 'reverted')
  node.reorg({ depth: 1, keep: 'all' })
  assert.equal((await deposits()).length, 1)
})

test('solidified reads see the balance of 18 blocks ago', async () => {
  const api = tronHttpApi({ url: node.url, fetch })
  const [owner, contract] = [DEPOSIT, USDT_ADDRESS].map(bytesFromTronAddress)
  assert(owner && contract)
  const parameter = new Uint8Array(32)
  parameter.set(owner, 12)
  const call = { owner, contract, function: 'balanceOf(address)', parameter }
  const read = async (depth: 'head' | 'solid') => {
    const { returned } = await api.call(call, depth)
    return BigInt(`0x${Buffer.from(returned).toString('hex')}`)
  }
  node.transferUsdt({ to: DEPOSIT, amount_micros: 7n })
  node.mine(18)
  assert.deepEqual([await read('head'), await read('solid')], [7n, 0n])
  node.mine()
  assert.deepEqual([await read('head'), await read('solid')], [7n, 7n])
})
