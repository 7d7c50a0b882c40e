import assert from 'node:assert/strict'
import { test } from 'node:test'
import { USDT_ADDRESS } from '#sandbox/tron_node.ts'
import { TronWeb, utils } from '#test/packages/tronweb.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { awaitedTopup, balanceOf, onChain, topupOf } from '#test/support/topups.ts'
import { endOnChain, requestedTo } from '#test/support/withdrawals.ts'

const KEY = '22'.repeat(32)
const service = await startTestService()
const { url, sandbox, tasks } = service
const { node } = sandbox

test('a stock wallet pays a top-up and receives a withdrawal', async () => {
  const wallet = new TronWeb({ fullHost: node.url, privateKey: KEY })
  const me = String(wallet.address.fromPrivateKey(KEY))
  node.fundTrx({ to: me, amount_sun: 200_000_000n })
  node.transferUsdt({ to: me, amount_micros: 100_000_000n })
  node.mine()
  const { bearer } = await openAccount(url)
  const { id, deposit_address } = await awaitedTopup(url, bearer, 80)

  const { transaction } = await wallet.transactionBuilder.triggerSmartContract(
    USDT_ADDRESS,
    'transfer(address,uint256)',
    { feeLimit: 50_000_000 },
    [
      { type: 'address', value: deposit_address },
      { type: 'uint256', value: 80_000_000 },
    ],
    me,
  )
  const signed = utils.crypto.signTransaction(KEY, transaction)
  const sent = await wallet.trx.sendRawTransaction(signed)
  assert.equal(sent.result, true)
  node.mine()
  await tasks.run(['watch_deposits'])
  assert.equal((await topupOf(url, bearer, id)).txid, transaction.txID)
  const done = await onChain({ url, bearer, id }, 'confirm')
  assert.deepEqual([done.status, done.payment_state], ['completed', 'exact'])

  const account = { url, bearer }
  const order = await requestedTo(account, me, 50)
  const paid = await endOnChain(account, order.id, 'confirm')
  assert.equal(paid.status, 'completed')
  const usdt = await wallet.contract().at(USDT_ADDRESS)
  assert.equal(Number(await usdt.methods.balanceOf?.(me).call()), 69_000_000)
  const receipt = await wallet.trx.getTransactionInfo(paid.txid ?? '')
  assert.equal(receipt.receipt?.result, 'SUCCESS')
  assert.equal((await balanceOf(url, bearer)).balance_usd, 30)
  await assertBooksSound(service.runtime.db)
})
