import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesToHex } from '@noble/hashes/utils.js'
import { createWalletClient, type Hex, http, keccak256, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { mainnet } from 'viem/chains'
import { Secret } from '#kernel/secret.ts'
import { withLease } from '#platform/postgres/lease.ts'
import { evmAddressFromBytes } from '#rails/chain/evm/address.ts'
import { walletFromPhrase } from '#rails/signer/wallet.ts'
import { eventually } from '#test/support/eventually.ts'
import { CONFIRMATIONS, PHRASE, startEvmNode, startEvmService } from '#test/support/evm.ts'
import { send } from '#test/support/http.ts'
import { startLyingNode } from '#test/support/lying_node.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { operate } from '#test/support/operator.ts'
import { openAccount } from '#test/support/people.ts'
import { balanceOf, topupIn } from '#test/support/topups.ts'
import { withdrawalOf } from '#test/support/withdrawals.ts'

/** Old enough that every node behind a load balancer has the block. */
const LONG_AGO = CONFIRMATIONS + 25
const OUT = ['send_withdrawals', 'confirm_withdrawals']

const node = await startEvmNode()
const proxy = await startLyingNode(node.url)
// A sweep would use the nonces too.
const settings = { sweep_min_usd: 10_000 }
const service = await startEvmService({ ...node, url: proxy.url }, settings)
const { url, tasks, hot_wallet } = service
const { db } = service.runtime
const { bearer } = await openAccount(url)

const key = walletFromPhrase(new Secret(PHRASE)).keyOf('evm', null)
assert(key instanceof Secret)
/** Somebody who has the key of the hot wallet in another program too. */
const hand = createWalletClient({
  account: privateKeyToAccount(`0x${bytesToHex(key.open())}`),
  chain: mainnet,
  transport: http(node.url),
}).extend(publicActions)

await node.giveCoins(hot_wallet)
// ganache accepts a second transaction with the nonce 0, as no real node does.
await hand.sendTransaction({ to: node.outside.account.address, value: 1n })
await node.pay(hot_wallet, 1_000_000_000n)
const body = { amount_usd: 500, asset: 'USDC', chain: 'ethereum' }
const topup = topupIn(await send(url, 'POST', '/v1/topups', { bearer, body }))
await node.pay(topup.deposit_address, 500_000_000n)
await node.mine(CONFIRMATIONS)
await tasks.run(['watch_deposits'])

let recipients = 0
const newRecipient = () => {
  recipients += 1
  return evmAddressFromBytes(new Uint8Array(20).fill(0xa0 + recipients))
}
const balance = async () => (await balanceOf(url, bearer)).balance_usd
const found = (id: string) => withdrawalOf({ url, bearer }, id)
const transfersOf = (id: string) =>
  db.rows<{ attempt: number; nonce: bigint; raw: string; txid: string }>(
    `select attempt, nonce, raw, txid from withdrawal_transfers
      where withdrawal_id = $1 order by attempt`,
    [id],
  )

async function until(is: () => Promise<boolean>, { mines = true } = {}): Promise<boolean> {
  const look = async () => {
    await tasks.run(OUT)
    if (mines) await node.mine(1)
    return is()
  }
  return eventually(look, { within_ms: 60_000 })
}

/** A withdrawal whose transfer a fork removed, and whose nonce was then used by hand. */
async function lostWithdrawal(to: string): Promise<{ id: string; lost: string; nonce: number }> {
  const before = await node.rpc('evm_snapshot')
  const id = await sentWithdrawal(to)
  const [transfer] = await transfersOf(id)
  assert(transfer !== undefined)
  const nonce = Number(transfer.nonce)
  // Under the lease no background run sends the transfer again in between.
  const isTaken = () =>
    withLease(db, 'withdrawals:ethereum', async () => {
      await node.rpc('evm_revert', [before])
      const target = node.outside.account.address
      const hash = await hand.sendTransaction({ to: target, value: 1n, nonce, gas: 30_000n })
      const { status } = await hand.waitForTransactionReceipt({ hash, pollingInterval: 50 })
      assert.equal(status, 'success')
    })
  assert(await eventually(isTaken, { within_ms: 20_000 }))
  await node.mine(LONG_AGO)
  return { id, lost: transfer.raw, nonce }
}

async function sentWithdrawal(to: string): Promise<string> {
  const fields = { amount_usd: 21, address: to, asset: 'USDC', chain: 'ethereum' }
  const reply = await send(url, 'POST', '/v1/withdrawals', { bearer, body: fields })
  assert.equal(reply.status, 201, reply.text)
  const id = String(reply.body['id'])
  const isSent = async () => (await found(id)).status === 'broadcasted'
  assert(await until(isSent, { mines: false }))
  return id
}

test('a withdrawal whose nonce was used by hand gets one new nonce and arrives once', async () => {
  const to = newRecipient()
  const before = await balance()
  const { id, lost, nonce } = await lostWithdrawal(to)
  const isDone = async () => (await found(id)).status === 'completed'
  assert(await until(isDone), JSON.stringify(await found(id)))
  const nonces = [...new Set((await transfersOf(id)).map((one) => Number(one.nonce)))]
  assert.deepEqual(nonces, [nonce, nonce + 1])
  assert.equal(await node.held(to), 20_000_000n)

  // The chain has the hand's transaction at the lost nonce, so it refuses the lost transfer.
  const resent = node.rpc('eth_sendRawTransaction', [`0x${lost}`])
  await assert.rejects(resent, /nonce/i)
  await node.mine(CONFIRMATIONS)
  assert.equal(await node.rpc('eth_getTransactionReceipt', [keccak256(`0x${lost}`)]), null)
  assert.equal(await node.held(to), 20_000_000n)
  assert.equal(await balance(), before - 21)
  await assertBooksSound(db)
})

test('without proof that the nonce is lost, it awaits an operator and nothing is signed', async () => {
  const to = newRecipient()
  const before = await balance()
  const stop = proxy.lieAbout('eth_getBlockByNumber', (truth) => ({
    ...(truth as object),
    transactions: [],
  }))
  const { id } = await lostWithdrawal(to)
  const isHeld = async () => (await found(id)).status_reason === 'nonce_taken'
  assert(await until(isHeld), JSON.stringify(await found(id)))
  const signed = (await transfersOf(id)).length
  const { body: listed } = await operate(url, 'GET', '/withdrawals?status=review')
  assert.deepEqual(
    listed['data'].map((row: { id: string }) => row.id),
    [id],
  )
  for (let run = 0; run < 3; run += 1) await tasks.run(OUT)
  assert.equal((await transfersOf(id)).length, signed)
  await assertBooksSound(db)

  stop()
  assert.equal((await operate(url, 'POST', `/withdrawals/${id}/approve`)).status, 200)
  const isDone = async () => (await found(id)).status === 'completed'
  assert(await until(isDone), JSON.stringify(await found(id)))
  assert.equal(await node.held(to), 20_000_000n)
  assert.equal(await balance(), before - 21)
  await assertBooksSound(db)
})

test('a final transaction that moved nothing, of a replaced contract, awaits an operator', async () => {
  const to = newRecipient()
  const before = await balance()
  const code = await node.rpc('eth_getCode', [node.asset, 'latest'])
  await node.rpc('miner_stop')
  const id = await sentWithdrawal(to)
  // STOP: every call succeeds and does nothing.
  await node.rpc('evm_setAccountCode', [node.asset, '0x00'])
  await node.rpc('miner_start')
  await node.mine(CONFIRMATIONS)
  const isHeld = async () => (await found(id)).status_reason === 'transfer_mismatch'
  assert(await until(isHeld), JSON.stringify(await found(id)))
  await node.rpc('evm_setAccountCode', [node.asset, code])
  const { txid } = await found(id)
  const receipt = await node.outside.getTransactionReceipt({ hash: txid as Hex })
  assert.deepEqual([receipt.status, receipt.logs.length], ['success', 0])
  assert.equal(await balance(), before - 21)
  await assertBooksSound(db)
  assert.equal((await operate(url, 'POST', `/withdrawals/${id}/refuse`)).status, 200)
  assert.equal(await balance(), before)
  assert.equal(await node.held(to), 0n)
  await assertBooksSound(db)
})
