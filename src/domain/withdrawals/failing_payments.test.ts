import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Task } from '#platform/runtime/tasks.ts'
import { type ChainSender, type Payment, TransferRefused } from '#rails/chain/sender.ts'
import { openMoneyRoom } from '#test/support/money_room.ts'
import {
  openWithdrawal,
  outletOf,
  signedOutcome,
  signedRow,
  withdrawalDependencies,
} from '#test/support/withdrawal_room.ts'
import { storeTransfer } from './advance_withdrawal.ts'
import { confirmWithdrawalsTask } from './confirm_withdrawals_task.ts'
import { sendWithdrawalsTask } from './send_withdrawals_task.ts'
import { sweepDepositsTask } from './sweep_deposits_task.ts'
import type { WithdrawalRow } from './withdrawal.ts'
import type { WithdrawalDependencies } from './withdrawal_dependencies.ts'
import { lockWithdrawal } from './withdrawal_store.ts'

const room = await openMoneyRoom()
const { db, chain, clock } = room
const reload = (withdrawal: WithdrawalRow) => db.transaction((tx) => lockWithdrawal(tx, withdrawal))
const stepOf = async (withdrawal: WithdrawalRow) => (await reload(withdrawal)).step

const fail = async () => {
  throw new Error('the node is down')
}

/** Two chains, the first with a node that is down. */
function withFirstChainDown(task: (dependencies: WithdrawalDependencies) => Task) {
  const down = outletOf(room, {
    chain: { ...chain, name: 'ethereum' },
    networkParameters: fail,
    missingFuel: fail,
    lookup: fail,
  })
  const up = outletOf(room, {
    lookup: async () => ({ fate: 'final', result: 'success', block_number: 7 }),
  })
  return task(withdrawalDependencies(room, { chain_senders: [down, up] }))
}

async function openSigned(chain_name: string): Promise<WithdrawalRow> {
  const withdrawal = await openWithdrawal(room, { chain: chain_name })
  const transfer = signedRow()
  const dependencies = withdrawalDependencies(room)
  const signed = await storeTransfer(dependencies, withdrawal, { sender: '', transfer })
  assert(signed !== null)
  return signed
}

test('a chain whose node is down does not stop withdrawals on the next chain', async () => {
  await openWithdrawal(room, { chain: 'ethereum' })
  const reserved = await openWithdrawal(room)
  const isDown = { message: 'the node is down' }
  await assert.rejects(withFirstChainDown(sendWithdrawalsTask).run(), isDown)
  assert.equal(await stepOf(reserved), 'signed')

  await openSigned('ethereum')
  const signed = await openSigned('tron')
  await assert.rejects(withFirstChainDown(confirmWithdrawalsTask).run(), isDown)
  assert.equal(await stepOf(signed), 'completed')
})

const FROZEN = 'TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C'

/** The outlet of a node with this fault for one payment only. */
function sendingWith(fault: Error, parts: Partial<WithdrawalDependencies> = {}) {
  const networkParameters: ChainSender['networkParameters'] = async ({ to }: Payment) => {
    if (to === chain.readAddress(FROZEN)) throw fault
    return {} as never
  }
  const chain_senders = [outletOf(room, { networkParameters })]
  return sendWithdrawalsTask(withdrawalDependencies(room, { chain_senders, ...parts }))
}

test('a withdrawal that the node refuses stops no other, and waits for an operator after an hour', async () => {
  const frozen = await openWithdrawal(room, { address: FROZEN })
  const next = await openWithdrawal(room)
  const task = sendingWith(new TransferRefused('the contract refuses the recipient'))
  await task.run()
  assert.equal(await stepOf(next), 'signed')
  const held = await reload(frozen)
  assert.deepEqual(
    [held.step, held.status_reason, held.next_try_at.getTime() - clock.now().getTime()],
    ['reserved', 'review', 60_000],
  )
  clock.pass(60_000)
  await task.run()
  const again = await reload(frozen)
  assert.deepEqual([again.step, again.version], ['reserved', held.version])
  clock.pass(60 * 60_000)
  await task.run()
  assert.equal(await stepOf(frozen), 'review')
})

test('a withdrawal that always fails is tried after the others', async () => {
  const broken = await openWithdrawal(room, { address: FROZEN })
  clock.pass(1)
  const next = await openWithdrawal(room)
  clock.pass(1)
  const task = sendingWith(new Error('broken'))
  await assert.rejects(task.run(), { message: 'broken' })
  await assert.rejects(task.run(), { message: 'broken' })
  assert.deepEqual([await stepOf(broken), await stepOf(next)], ['reserved', 'signed'])
})

test('a signed withdrawal that cannot be looked up is followed after the others', async () => {
  const lost = await openSigned('tron')
  clock.pass(1)
  const next = await openSigned('tron')
  clock.pass(1)
  const lookup: ChainSender['lookup'] = async ({ txid }) => {
    if (txid === lost.txid) throw new Error('broken')
    return { fate: 'final', result: 'success', block_number: 7 }
  }
  const chain_senders = [outletOf(room, { lookup })]
  const task = confirmWithdrawalsTask(withdrawalDependencies(room, { chain_senders }))
  await assert.rejects(task.run(), { message: 'broken' })
  await assert.rejects(task.run(), { message: 'broken' })
  assert.deepEqual([await stepOf(lost), await stepOf(next)], ['signed', 'completed'])
})

/** The addresses of new deposits that are due for a sweep. */
async function openHoldings(count: number): Promise<string[]> {
  const addresses: string[] = []
  for (let left = count; left > 0; left -= 1) {
    const topup = await room.openTopup(await room.openAccount())
    await room.deposit(topup, 200_000_000n)
    addresses.push(chain.readAddress(topup.deposit_address) ?? '')
  }
  return addresses
}

const sweepAt = async (address: string) => {
  const [sweep] = await db.rows<{ step: string; fuel: bigint | null }>(
    'select step, fuel from sweeps where address = $1 order by number desc',
    [address],
  )
  return sweep
}

test('a sweep that the node refuses stops no other', async () => {
  const [frozen = '', next = ''] = await openHoldings(2)
  const missingFuel = async ({ from }: Payment) => {
    if (from === frozen) throw new TransferRefused('the contract refuses the sender')
    return 0n
  }
  const chain_senders = [outletOf(room, { missingFuel })]
  await sweepDepositsTask(withdrawalDependencies(room, { chain_senders })).run()
  const steps = [(await sweepAt(frozen))?.step, (await sweepAt(next))?.step]
  assert.deepEqual(steps, ['planned', 'fuelled'])
})

test('fuel above the limit of the signer is computed again after an hour', async () => {
  const [address = ''] = await openHoldings(1)
  let fuel = 90n
  const sign: WithdrawalDependencies['signer']['sign'] = async ({ amount }) =>
    BigInt(amount) > 50n ? { ok: false, refusal: 'amount_over_limit' } : signedOutcome()
  const chain_senders = [outletOf(room, { missingFuel: async () => fuel })]
  const task = sweepDepositsTask(withdrawalDependencies(room, { chain_senders, signer: { sign } }))
  await task.run()
  fuel = 40n
  clock.pass(5_000)
  await task.run()
  assert.deepEqual(await sweepAt(address), { step: 'failed', fuel: 90n })
  clock.pass(60 * 60_000)
  await task.run()
  assert.deepEqual(await sweepAt(address), { step: 'fuelling', fuel: 40n })
})
