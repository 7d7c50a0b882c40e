import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { Secret } from '#kernel/secret.ts'
import { addressBytesOfPrivateKey } from '#rails/chain/public_key.ts'
import { bytesFromTronAddress, tronAddressFromBytes } from '#rails/chain/tron/address.ts'
import { type TronHttpApi, tronHttpApi } from '#rails/chain/tron/http_api.ts'
import {
  referenceOf,
  type SignedTransaction,
  signTransaction,
} from '#rails/chain/tron/transaction.ts'
import { TRANSFER_FUNCTION, transferCall, transferParameter } from '#rails/chain/tron/trc20.ts'
import { startTronNode, type TronNode, USDT_ADDRESS } from '#sandbox/tron_node.ts'

const key = new Secret(new Uint8Array(32).fill(9))
const owner = addressBytesOfPrivateKey(key.open())
const wallet = tronAddressFromBytes(owner)
const RECIPIENT = 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6'

let clock_ms = 1_790_000_000_000
let node: TronNode
let api: TronHttpApi

/** Our own client with a hot wallet of 100 TRX and 50 USDT. */
beforeEach(async () => {
  node = await startTronNode({ now: () => clock_ms })
  api = tronHttpApi({ url: node.url, fetch })
  node.fundTrx({ to: wallet, amount_sun: 100_000_000n })
  node.transferUsdt({ to: wallet, amount_micros: 50_000_000n })
  node.mine()
})
afterEach(() => node.stop())

function bytesOf(address: string): Uint8Array {
  const bytes = bytesFromTronAddress(address)
  assert(bytes !== null)
  return bytes
}

async function signedTransfer(amount: bigint): Promise<SignedTransaction> {
  const reference = await api.now('solid')
  const head = await api.now('head')
  const contract = {
    type: 'TriggerSmartContract' as const,
    owner,
    contract: bytesOf(USDT_ADDRESS),
    call_value_sun: 0n,
    data: transferCall(bytesOf(RECIPIENT), amount),
  }
  const content = {
    ...referenceOf(reference),
    expiration_ms: head.timestamp_ms + 600_000,
    timestamp_ms: head.timestamp_ms,
    fee_limit_sun: 40_000_000n,
    contract,
  }
  return signTransaction(content, key)
}

test('our client builds, sends and tracks a transfer until it is solidified', async () => {
  const call = { owner, contract: bytesOf(USDT_ADDRESS), function: TRANSFER_FUNCTION }
  const parameter = transferParameter(bytesOf(RECIPIENT), 9_000_000n)
  const energy = await api.estimateEnergy({ ...call, parameter })
  const fees = await api.fees()
  assert.deepEqual(fees, { energy_sun: 100n, bandwidth_sun: 1000n, activation_sun: 1_100_000n })
  assert.equal(energy, 130_285n)

  const signed = await signedTransfer(9_000_000n)
  assert.deepEqual(await api.broadcast(signed), { outcome: 'accepted' })
  assert.deepEqual(await api.broadcast(signed), { outcome: 'duplicate' })
  assert.equal(await api.receipt(signed.txid, 'head'), null)
  const block = node.mine()
  const receipt = await api.receipt(signed.txid, 'head')
  assert.equal(receipt?.ok, true)
  assert.equal(receipt?.fee_sun, (energy ?? 0n) * fees.energy_sun)
  assert.equal(receipt?.logs.length, 1)
  assert.deepEqual(await api.receiptsOfBlock(block.number, 'head'), [receipt])
  assert.deepEqual(await api.receiptsOfBlock(block.number, 'solid'), [])
  assert.equal(await api.receipt(signed.txid, 'solid'), null)
  node.mine(18)
  assert.deepEqual(await api.receipt(signed.txid, 'solid'), receipt)
  assert.equal((await api.block(block.number))?.id, block.id)
  assert.equal(await api.block(block.number + 99), null)
  assert.equal((await api.resources(owner)).bandwidth_free, 255n)
  assert.equal(await api.balance(owner, 'head'), 100_000_000n - 13_028_500n)
  assert.equal(await api.balance(bytesOf(RECIPIENT), 'head'), null)
})

test('a broadcast with a lost response was accepted; the retry is a duplicate', async () => {
  const signed = await signedTransfer(1n)
  node.fault({ kind: 'lost_answer', path: 'broadcasttransaction' })
  const lost = await api.broadcast(signed)
  assert.equal(lost.outcome, 'retryable')
  assert.deepEqual(await api.broadcast(signed), { outcome: 'duplicate' })
  node.mine()
  assert.equal(node.balanceOf(RECIPIENT), 1n)
})

test('a broadcast that failed before processing can be sent again', async () => {
  const signed = await signedTransfer(1n)
  const faults = [
    { kind: 'status', status: 500 },
    { kind: 'garbage' },
    { kind: 'throttled' },
    { kind: 'refused_broadcast', code: 'SERVER_BUSY' },
  ] as const
  for (const fault of faults) {
    node.fault(fault)
    assert.equal((await api.broadcast(signed)).outcome, 'retryable')
  }
  assert.deepEqual(await api.broadcast(signed), { outcome: 'accepted' })
})

test('a refusal of the transaction is final', async () => {
  const signed = await signedTransfer(1n)
  const forged = { ...signed, signature: '00'.repeat(65) }
  const said = await api.broadcast(forged)
  assert.deepEqual([said.outcome, 'code' in said && said.code], ['rejected', 'SIGERROR'])
})

test('a transfer that is not mined before its expiration never is', async () => {
  const signed = await signedTransfer(1n)
  clock_ms += 601_000
  node.mine()
  const said = await api.broadcast(signed)
  assert.deepEqual(
    [said.outcome, 'code' in said && said.code],
    ['rejected', 'TRANSACTION_EXPIRATION_ERROR'],
  )
})

test('faults occur as often and on the paths that they specify', async () => {
  node.fault({ kind: 'status', status: 500, path: 'walletsolidity', times: 2 })
  await api.now('head')
  await assert.rejects(api.now('solid'), { failure: 'unreachable' })
  await assert.rejects(api.now('solid'), { failure: 'unreachable' })
  await api.now('solid')
  const end = node.fault({ kind: 'throttled', times: Number.POSITIVE_INFINITY })
  for (const _ of [1, 2, 3]) await assert.rejects(api.now('head'), { failure: 'throttled' })
  end()
  await api.now('head')
  node.fault({ kind: 'garbage', times: 9 })
  node.clearFaults()
  await api.now('head')
})

test("a delay exceeds the client's timeout", async () => {
  node.fault({ kind: 'delay', delay_ms: 300 })
  const hasty = tronHttpApi({
    url: node.url,
    fetch: (url, init) => fetch(url, { ...init, signal: AbortSignal.timeout(50) }),
  })
  await assert.rejects(hasty.now('head'), { failure: 'unreachable' })
})

test('a lagging node shows an older head and nothing newer than it', async () => {
  const txid = node.transferUsdt({ to: RECIPIENT, amount_micros: 1n })
  const { number } = node.mine(3)
  const end = node.fault({ kind: 'lagging_head', blocks: 5, times: Number.POSITIVE_INFINITY })
  assert.equal((await api.now('head')).number, number - 5)
  assert.equal((await api.now('solid')).number, number - 23)
  assert.equal(await api.receipt(txid, 'head'), null)
  end()
  assert.equal((await api.receipt(txid, 'head'))?.ok, true)
})

test('lost logs are an empty response without an error, while receipts are complete', async () => {
  node.transferUsdt({ to: RECIPIENT, amount_micros: 1n })
  const { number } = node.mine()
  const logs = async (): Promise<unknown[]> => {
    const params = [{ fromBlock: '0x0', toBlock: 'latest' }]
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params })
    const answer = await fetch(`${node.url}/jsonrpc`, { method: 'POST', body })
    return ((await answer.json()) as { result: unknown[] }).result
  }
  node.fault({ kind: 'lost_logs' })
  assert.deepEqual(await logs(), [])
  assert.equal((await api.receiptsOfBlock(number, 'head')).length, 1)
  assert.equal((await logs()).length, 2)
})
