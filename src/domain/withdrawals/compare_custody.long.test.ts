import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proveCustody } from '#main/audit.ts'
import { evmAddressFromBytes } from '#rails/chain/evm/address.ts'
import { eventually } from '#test/support/eventually.ts'
import { CONFIRMATIONS, startEvmNode, startEvmService } from '#test/support/evm.ts'
import { send } from '#test/support/http.ts'
import { operate } from '#test/support/operator.ts'
import { openAccount } from '#test/support/people.ts'
import { fund, topupIn } from '#test/support/topups.ts'
import { endOnChain, requested } from '#test/support/withdrawals.ts'

/** Half of the float is in a cold wallet. */
const COLD = evmAddressFromBytes(new Uint8Array(20).fill(0xee))
const ethereum = await startEvmNode()
const tether = await ethereum.deploy()
const service = await startEvmService(ethereum, {
  assets: [
    { asset: 'USDC', contract: ethereum.asset },
    { asset: 'USDT', contract: tether, float_usd: 7 },
  ],
  cold_wallets: [COLD],
})
const { url, tasks, hot_wallet } = service
const { db, settings } = service.runtime
const { node } = service.sandbox

type Row = { chain: string; asset: string; difference_usd: number | null; fault: string | null }

async function differences(): Promise<(number | null)[]> {
  const { status, body, text } = await operate(url, 'GET', '/reconciliation')
  assert.equal(status, 200, text)
  assert.deepEqual(body['violations'], [])
  return (body['chains'] as Row[]).map(({ difference_usd }) => difference_usd)
}

test('a new program has no difference', async () => {
  await ethereum.pay(hot_wallet, 3_500_000n, tether)
  await ethereum.pay(COLD, 3_500_000n, tether)
  await ethereum.mine(CONFIRMATIONS)
  assert.deepEqual(await differences(), [0, 0, 0])
})

test('deposits, a sweep, withdrawals and a failed one leave no difference', async () => {
  const { bearer } = await openAccount(url)
  await fund(url, bearer, 300)
  const account = { url, bearer }
  const { id } = await requested(account, 100)
  await endOnChain(account, id, 'confirm')
  const { id: failing } = await requested(account, 50)
  await endOnChain(account, failing, 'fail')
  const body = { amount_usd: 25, asset: 'USDC', chain: 'ethereum' }
  const topup = topupIn(await send(url, 'POST', '/v1/topups', { bearer, body }))
  await ethereum.pay(topup.deposit_address, 40_000_000n)
  await ethereum.pay(topup.deposit_address, 2_500_000n, tether)
  await ethereum.mine(CONFIRMATIONS)
  await tasks.run(['watch_deposits'])
  assert.deepEqual(await differences(), [0, 0, 0])
  const isSwept = async () => {
    await tasks.run(['sweep_deposits'])
    node.mine(19)
    return (await db.rows(`select 1 from sweeps where step = 'done'`)).length > 0
  }
  assert(await eventually(isSwept, { within_ms: 30_000 }))
  assert.deepEqual(await differences(), [0, 0, 0])
  const rows = await proveCustody([db], settings)
  assert.deepEqual(
    rows.map(({ asset, ledger_usd, float_usd, is_short }) => [
      asset,
      ledger_usd,
      float_usd,
      is_short,
    ]),
    [
      ['USDT', 201, 10_000_000, false],
      ['USDC', 40, 0, false],
      ['USDT', 2.5, 7, false],
    ],
  )
})

test('missing coins are reported as short, and an unreachable node as a fault', async () => {
  const lost = { chain: 'ethereum', asset: 'USDC', value_micros: 5_000_000n }
  const [wd] = await db.rows<{ account_id: string }>('select account_id from withdrawals limit 1')
  // A deposit in the books that is on no chain.
  await db.run(
    `insert into chain_transfers (chain, txid, ordinal, account_id, topup_id, block_number,
                                  block_hash, block_at, from_address, value_micros, screening,
                                  state, movement_id, created_at, asset)
     select $1, 'none', 0, account_id, id, 1, '', now(), '', $3, '{}', 'credited', 'none', now(), $2
       from topups where account_id = $4 limit 1`,
    [lost.chain, lost.asset, lost.value_micros, wd?.account_id],
  )
  const isShort = async () => (await proveCustody([db], settings)).map(({ is_short }) => is_short)
  assert.deepEqual(await isShort(), [false, true, false])
  await db.run(`delete from chain_transfers where txid = 'none'`)
  assert.deepEqual(await isShort(), [false, false, false])
  const away = { ...settings, chains: settings.chains.map((one) => ({ ...one, url: DEAD_URL })) }
  for (const { fault, difference_usd, is_short } of await proveCustody([db], away)) {
    assert.match(fault ?? '', /did not respond/)
    assert.deepEqual([difference_usd, is_short], [null, false])
  }
})

/** Nothing listens on this port. */
const DEAD_URL = 'http://127.0.0.1:9'
