import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hex } from 'viem'
import { evmAddressFromBytes } from '#rails/chain/evm/address.ts'
import { eventually } from '#test/support/eventually.ts'
import { CONFIRMATIONS, startEvmNode, startEvmService } from '#test/support/evm.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { openAccount } from '#test/support/people.ts'
import { balanceOf, topupIn, topupOf } from '#test/support/topups.ts'
import { withdrawalOf } from '#test/support/withdrawals.ts'

const OUTSIDER = evmAddressFromBytes(new Uint8Array(20).fill(0xab))
const node = await startEvmNode()
const { rpc, mine, pay, held, asset } = node
const service = await startEvmService(node)
const { url, tasks, hot_wallet } = service
const { db } = service.runtime
const { bearer } = await openAccount(url)
const WATCH = ['watch_deposits']

async function awaited() {
  const body = { amount_usd: 25, asset: 'USDC', chain: 'ethereum' }
  const reply = await send(url, 'POST', '/v1/topups', { bearer, body })
  assert.equal(reply.status, 201, reply.text)
  return topupIn(reply)
}

test('a deposit is seen, reorged out, mined again elsewhere, and credited once', async () => {
  const { id, deposit_address: to, payment_uri } = await awaited()
  const transfer = `ethereum:${asset}@1/transfer?address=${to}&uint256=25000000`
  assert.equal(payment_uri.toLowerCase(), transfer.toLowerCase())
  const before = await rpc('evm_snapshot')
  await pay(to, 10_000_000n)
  await tasks.run(WATCH)
  assert.equal((await topupOf(url, bearer, id)).status, 'confirming')
  await rpc('evm_revert', [before])
  await mine(1)
  await tasks.run(WATCH)
  const gone = await topupOf(url, bearer, id)
  assert.deepEqual([gone.status, gone.status_reason], ['awaiting', 'reorg'])
  await pay(OUTSIDER, 1n)
  await pay(to, 10_000_000n)
  await pay(to, 15_000_000n)
  await mine(CONFIRMATIONS)
  for (let look = 0; look < 3; look += 1) await tasks.run(WATCH)
  const done = await topupOf(url, bearer, id)
  assert.deepEqual([done.status, done.credited_usd, done.payment_state], ['completed', 25, 'exact'])
  assert.equal(done.txids.length, 2)
  assert.match(done.txid ?? '', /^0x[0-9a-f]{64}$/)
  assert.equal(await held(to), 25_000_000n)
  assert.equal((await balanceOf(url, bearer)).balance_usd, 25)
})

const statusOf = async (hash: Hex) => (await node.outside.getTransactionReceipt({ hash })).status

test('a zero value, a failed call and another contract credit nothing', async () => {
  const { id, deposit_address: to } = await awaited()
  const fake = await node.deploy()
  await pay(to, 0n)
  const failed = await pay(to, 10n ** 30n)
  await pay(to, 9_000_000n, fake)
  await mine(CONFIRMATIONS)
  await tasks.run(WATCH)
  assert.equal(await statusOf(failed), 'reverted', 'the failed call is in a block')
  assert.equal((await topupOf(url, bearer, id)).received_usd, 0)
})

test('a withdrawal leaves by its place in the order and arrives once', async () => {
  await pay(hot_wallet, 100_000_000n)
  await node.giveCoins(hot_wallet)
  const before = await held(OUTSIDER)
  const ask = (address: string) =>
    send(url, 'POST', '/v1/withdrawals', {
      bearer,
      body: { amount_usd: 11, address, asset: 'USDC', chain: 'ethereum' },
    })
  assert.equal((await ask(OUTSIDER.toLowerCase())).body['error'], 'invalid_address')
  const orders = [await ask(OUTSIDER), await ask(OUTSIDER)]
  const account = { url, bearer }
  const areDone = await eventually(
    async () => {
      await tasks.run(['send_withdrawals', 'confirm_withdrawals'])
      await mine(1)
      const all = await Promise.all(
        orders.map(({ body }) => withdrawalOf(account, String(body['id']))),
      )
      return all.every(({ status }) => status === 'completed')
    },
    { within_ms: 40_000 },
  )
  const rows = await db.rows('select status, step, status_reason, attempt, txid from withdrawals')
  assert(areDone, JSON.stringify(rows))
  assert.equal((await held(OUTSIDER)) - before, 20_000_000n)
  assert.equal((await balanceOf(url, bearer)).balance_usd, 3)
  await assertBooksSound(db)
})
