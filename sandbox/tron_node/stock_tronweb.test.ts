import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { Secret } from '#kernel/secret.ts'
import { signTransaction } from '#rails/chain/tron/transaction.ts'
import { rawDataFromJson } from '#rails/chain/tron/transaction_json.ts'
import { startTronNode, type TronNode, USDT_ADDRESS } from '#sandbox/tron_node.ts'
import { TronWeb, type Types, utils } from '#test/packages/tronweb.ts'

const KEY = '11'.repeat(32)
const NOBODY = 'TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6'
const START_MS = 1_790_000_000_000
const SIGNATURE = 'transfer(address,uint256)'

let node: TronNode
let tronweb: TronWeb
let me: string

/** A stock client with 100 TRX and 5 USDT, and a chain without automatic blocks. */
beforeEach(async () => {
  node = await startTronNode({ now: () => START_MS })
  tronweb = new TronWeb({ fullHost: node.url, privateKey: KEY })
  me = String(tronweb.address.fromPrivateKey(KEY))
  node.fundTrx({ to: me, amount_sun: 100_000_000n })
  node.transferUsdt({ to: me, amount_micros: 5_000_000n })
  node.mine()
})
afterEach(() => node.stop())

function arguments_(to: string, amount: number): { type: string; value: unknown }[] {
  return [
    { type: 'address', value: to },
    { type: 'uint256', value: amount },
  ]
}

async function built(amount: number, feeLimit = 50_000_000): Promise<Types.Transaction> {
  const { transaction } = await tronweb.transactionBuilder.triggerSmartContract(
    USDT_ADDRESS,
    SIGNATURE,
    { feeLimit },
    arguments_(NOBODY, amount),
    me,
  )
  return transaction
}

async function broadcast(transaction: Types.Transaction, key = KEY): Promise<string> {
  const signed = utils.crypto.signTransaction(key, structuredClone(transaction))
  const said = await tronweb.trx.sendRawTransaction(signed)
  return said.result === true ? 'accepted' : String(said.code)
}

/** Rewrites the content and recomputes its txid. */
function rebuilt(
  transaction: Types.Transaction,
  change: (raw: Types.Transaction['raw_data']) => void,
): Types.Transaction {
  const copy = structuredClone(transaction)
  change(copy.raw_data)
  const message = utils.transaction.txJsonToPb(copy)
  copy.txID = utils.transaction.txPbToTxID(message).replace(/^0x/, '')
  copy.raw_data_hex = utils.transaction.txPbToRawDataHex(message).toLowerCase()
  return copy
}

test('the client accepts transactions that the node builds and signs them alike', async () => {
  const transaction = await built(1)
  const theirs = await tronweb.trx.sign(structuredClone(transaction), KEY)
  const content = rawDataFromJson(transaction.raw_data)
  assert(content !== null)
  const ours = signTransaction(content, new Secret(hexToBytes(KEY)))
  assert.equal(ours.txid, theirs.txID)
  assert.equal(bytesToHex(ours.raw), theirs.raw_data_hex)
  assert.equal(ours.signature, theirs.signature[0]?.toLowerCase())
})

test('contract().at() reads, sends and polls until the transfer is solidified', async () => {
  const contract = await tronweb.contract().at(USDT_ADDRESS)
  assert.equal(await contract.methods.symbol?.().call(), 'USDT')
  assert.equal(await contract.methods.decimals?.().call(), 6n)
  assert.equal(await contract.methods.balanceOf?.(me).call(), 5_000_000n)

  const txid: string = await contract.methods.transfer?.(NOBODY, 2_000_000).send()
  node.mine()
  assert.deepEqual(await tronweb.trx.getTransactionInfo(txid), {})
  const early = await tronweb.trx.getUnconfirmedTransactionInfo(txid)
  assert.equal(early.receipt.result, 'SUCCESS')
  assert.deepEqual(early.contractResult, ['0'.repeat(64)], 'USDT returns false from success')

  node.mine(17)
  assert.deepEqual(await tronweb.trx.getTransactionInfo(txid), {})
  node.mine(1)
  const final = await tronweb.trx.getTransactionInfo(txid)
  assert.equal(final.blockNumber, node.finalized().number)
  assert.equal(
    final.receipt.energy_usage_total,
    130_285,
    'the first balance of an address costs more',
  )
  assert.equal(final.receipt.net_usage, 345)
  assert.equal(final.fee, 13_028_500)
  assert.equal(node.balanceOf(NOBODY), 2_000_000n)
  assert.equal(node.trxOf(me), 100_000_000n - 13_028_500n)
})

test("send() with polling resolves to the contract's return value: false", async () => {
  const contract = await tronweb.contract().at(USDT_ADDRESS)
  const sent = contract.methods.transfer?.(NOBODY, 1).send({ shouldPollResponse: true })
  while (node.balanceOf(NOBODY) === 0n) {
    await new Promise((resolve) => setImmediate(resolve))
    node.mine(20)
  }
  assert.equal(await sent, false)
})

test('contract events have pages, order and finality', async () => {
  for (const amount_micros of [1n, 2n, 3n]) node.transferUsdt({ to: NOBODY, amount_micros })
  node.mine(19)
  node.transferUsdt({ to: NOBODY, amount_micros: 4n })
  node.mine()
  const events = await tronweb.event.getEventsByContractAddress(USDT_ADDRESS, { limit: 2 })
  assert.deepEqual(
    events.data?.map(({ result }) => result.value),
    ['4', '3'],
  )
  assert.equal(events.data?.[0]?._unconfirmed, true)
  const next = { limit: 2, fingerprint: String(events.meta?.fingerprint) }
  const older = await tronweb.event.getEventsByContractAddress(USDT_ADDRESS, next)
  assert.deepEqual(
    older.data?.map(({ result }) => result.value),
    ['2', '1'],
  )
  const only = {
    onlyConfirmed: true,
    eventName: 'Transfer',
    orderBy: 'block_timestamp,asc',
  } as const
  const final = await tronweb.event.getEventsByContractAddress(USDT_ADDRESS, only)
  assert.deepEqual(
    final.data?.map(({ result }) => result.value),
    ['5000000', '1', '2', '3'],
  )
})

test('the energy estimate equals the charge, and a revert has no estimate', async () => {
  const estimate = (amount: number) =>
    tronweb.transactionBuilder.estimateEnergy(
      USDT_ADDRESS,
      SIGNATURE,
      {},
      arguments_(NOBODY, amount),
      me,
    )
  assert.equal((await estimate(1)).energy_required, 130_285)
  await assert.rejects(estimate(6_000_000), /REVERT/)
  const constant = tronweb.transactionBuilder.triggerConstantContract(
    USDT_ADDRESS,
    SIGNATURE,
    {},
    arguments_(NOBODY, 6_000_000),
    me,
  )
  await assert.rejects(constant, /REVERT/)
})

test('duplicates in the pool and on the chain are refused', async () => {
  const transaction = await built(1)
  assert.equal(await broadcast(transaction), 'accepted')
  assert.equal(await broadcast(transaction), 'DUP_TRANSACTION_ERROR')
  node.mine()
  assert.equal(await broadcast(transaction), 'DUP_TRANSACTION_ERROR')
  assert.equal(node.balanceOf(NOBODY), 1n)
})

test('another key and content changed after signing are refused', async () => {
  const transaction = await built(1)
  assert.equal(await broadcast(transaction, '22'.repeat(32)), 'SIGERROR')
  const signed = await tronweb.trx.sign(transaction, KEY)
  signed.raw_data.fee_limit = 60_000_000
  const said = await tronweb.trx.sendRawTransaction(signed)
  assert.equal(said.code, 'SIGERROR')
})

test('a reference to another chain and an invalid expiration are refused', async () => {
  const transaction = await built(1)
  const other = rebuilt(transaction, (raw) => {
    raw.ref_block_hash = 'ab'.repeat(8)
  })
  assert.equal(await broadcast(other), 'TAPOS_ERROR')
  for (const expiration of [node.head().timestamp_ms, START_MS + 86_400_000 + 60_000]) {
    const changed = rebuilt(transaction, (raw) => {
      raw.expiration = expiration
    })
    assert.equal(await broadcast(changed), 'TRANSACTION_EXPIRATION_ERROR')
  }
})

test('a transfer over the balance is mined, fails with REVERT and costs a fee', async () => {
  const transaction = await built(6_000_000)
  assert.equal(await broadcast(transaction), 'accepted')
  node.mine(19)
  const receipt = await tronweb.trx.getTransactionInfo(transaction.txID)
  assert.equal(receipt.result, 'FAILED')
  assert.equal(receipt.receipt.result, 'REVERT')
  assert.equal(receipt.log, undefined)
  assert(Number(receipt.fee) > 0)
  assert.equal(node.balanceOf(me), 5_000_000n)
})

test('a low fee limit runs out of energy, is burnt and moves nothing', async () => {
  const transaction = await built(1, 1_000_000)
  assert.equal(await broadcast(transaction), 'accepted')
  node.mine(19)
  const receipt = await tronweb.trx.getTransactionInfo(transaction.txID)
  assert.equal(receipt.receipt.result, 'OUT_OF_ENERGY')
  assert.equal(receipt.receipt.energy_fee, 1_000_000)
  assert.equal(node.balanceOf(NOBODY), 0n)
  assert.equal(node.balanceOf(me), 5_000_000n)
})

test('the first TRX activates an address for 1.1 TRX; before that it cannot send', async () => {
  const key = '33'.repeat(32)
  const newcomer = String(tronweb.address.fromPrivateKey(key))
  node.transferUsdt({ to: newcomer, amount_micros: 9_000_000n })
  node.mine()
  assert.equal(node.balanceOf(newcomer), 9_000_000n, 'it can receive all the same')
  assert.deepEqual(await tronweb.trx.getUnconfirmedAccount(newcomer), {})
  const theirs = new TronWeb({ fullHost: node.url, privateKey: key })
  const contract = await theirs.contract().at(USDT_ADDRESS)
  const send = () => contract.methods.transfer?.(me, 1).send()
  await assert.rejects(send, /account does not exist/)

  const before = node.trxOf(me)
  assert.equal((await tronweb.trx.sendTransaction(newcomer, 20_000_000)).result, true)
  node.mine()
  assert.equal(before - node.trxOf(me), 21_100_000n)
  await send()
  node.mine()
  assert.equal(node.balanceOf(newcomer), 8_999_999n)
})

test('a TRX transfer above the balance is refused immediately', async () => {
  const built = tronweb.transactionBuilder.sendTrx(NOBODY, 99_000_000, me)
  assert.equal(await broadcast(await built), 'CONTRACT_VALIDATE_ERROR')
})

test('600 bytes a day are free, then bandwidth costs TRX, then BANDWITH_ERROR', async () => {
  for (const amount of [1, 2]) assert.equal(await broadcast(await built(amount)), 'accepted')
  node.mine()
  const { transactions = [] } = await tronweb.trx.getCurrentBlock()
  const costs = transactions.map(async ({ txID }) => {
    const { receipt } = await tronweb.trx.getUnconfirmedTransactionInfo(txID)
    return [receipt.net_usage, receipt.net_fee]
  })
  assert.deepEqual(await Promise.all(costs), [
    [345, undefined],
    [undefined, 345_000],
  ])

  const key = '44'.repeat(32)
  const poor = String(tronweb.address.fromPrivateKey(key))
  node.fundTrx({ to: poor, amount_sun: 1n })
  node.transferUsdt({ to: poor, amount_micros: 10n })
  node.mine()
  const theirs = new TronWeb({ fullHost: node.url, privateKey: key })
  const contract = await theirs.contract().at(USDT_ADDRESS)
  const txid: string = await contract.methods.transfer?.(me, 1).send()
  node.mine()
  const receipt = await theirs.trx.getUnconfirmedTransactionInfo(txid)
  assert.equal(receipt.receipt.result, 'OUT_OF_ENERGY', 'no TRX to burn means no energy')
  await assert.rejects(() => contract.methods.transfer?.(me, 1).send(), /resource insufficient/)
})

test('delegated energy pays for a sweep without TRX', async () => {
  const key = '55'.repeat(32)
  const deposit = String(tronweb.address.fromPrivateKey(key))
  node.fundTrx({ to: deposit, amount_sun: 1n })
  node.transferUsdt({ to: deposit, amount_micros: 7n })
  node.fundStake({ to: me, amount_sun: 20_000_000_000n })
  node.mine()
  const lending = await tronweb.transactionBuilder.delegateResource(
    14_000_000_000,
    deposit,
    'ENERGY',
    me,
  )
  assert.equal(await broadcast(lending), 'accepted')
  node.mine()
  assert.equal((await tronweb.trx.getAccountResources(deposit)).EnergyLimit, 140_000)
  const theirs = new TronWeb({ fullHost: node.url, privateKey: key })
  const contract = await theirs.contract().at(USDT_ADDRESS)
  const txid: string = await contract.methods.transfer?.(me, 7).send()
  node.mine()
  const receipt = await theirs.trx.getUnconfirmedTransactionInfo(txid)
  assert.equal(receipt.receipt.result, 'SUCCESS')
  assert.equal(receipt.receipt.energy_usage, 64_285)
  assert.equal(receipt.fee, undefined)
})

test('blocks are found by number, id and range, with their transactions inside', async () => {
  const block = await tronweb.trx.getCurrentBlock()
  assert.equal(block.blockID, node.head().id)
  assert.equal(block.transactions?.length, 2)
  assert.equal((await tronweb.trx.getBlockByHash(block.blockID)).blockID, block.blockID)
  assert.equal((await tronweb.trx.getConfirmedCurrentBlock()).blockID, node.finalized().id)
  assert.equal((await tronweb.trx.getBlockRange(1, 5)).length, 5)
  await assert.rejects(tronweb.trx.getBlockByNumber(9_999), /not found/)
})

async function ask(path: string, request: object): Promise<Record<string, unknown>> {
  const body = JSON.stringify(request)
  const answer = await fetch(`${node.url}/${path}`, { method: 'POST', body })
  return (await answer.json()) as Record<string, unknown>
}

test("TRX transfers and delegation work in both address formats, with a node's errors", async () => {
  const payment = { owner_address: me, to_address: NOBODY, amount: 5_000_000, visible: true }
  const seen = (await ask('wallet/createtransaction', payment)) as unknown as Types.Transaction
  assert.equal(utils.transaction.txCheck(seen), true)
  assert(JSON.stringify(seen.raw_data).includes(NOBODY))
  assert.equal(await broadcast(seen), 'accepted')
  const much = await ask('wallet/createtransaction', { ...payment, amount: 500_000_000 })
  assert.match(String(much.Error), /balance is not sufficient/)

  const lending = { owner_address: me, receiver_address: NOBODY, balance: 1_000_000, visible: true }
  const poor = await ask('wallet/delegateresource', { ...lending, resource: 'ENERGY' })
  assert.match(String(poor.Error), /above what is staked/)
  const call = {
    owner_address: me,
    contract_address: NOBODY,
    function_selector: 'x()',
    visible: true,
  }
  const { result } = await ask('wallet/triggersmartcontract', call)
  assert.equal((result as { code: string }).code, 'CONTRACT_VALIDATE_ERROR')
  const bad = await ask('wallet/getaccount', { address: 'nonsense' })
  assert.match(String(bad.Error), /INVALID address/)
  assert.equal((await fetch(`${node.url}/wallet/unheardof`)).status, 404)
})
