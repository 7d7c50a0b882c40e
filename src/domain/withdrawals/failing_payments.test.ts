import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Task } from '#platform/runtime/tasks.ts'
import {
  type ChainSender,
  type LookupOutcome,
  type Payment,
  TransferRefused,
} from '#rails/chain/sender.ts'
import type { SignOutcome, TransferIntent } from '#rails/signer/intent.ts'
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
import { claimNonce } from './sender_order_store.ts'
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
    lookup: async () => ({ outcome: 'final', result: 'success', block_number: 7 }),
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

test('a transfer from before a restore is followed if mined, and replaced only if dead', async () => {
  await claimNonce(db, { chain: chain.name, address: chain.hot_wallet }, 9n)
  const signer = { sign: async () => signedOutcome({ nonce: 5 }) }
  const sendWhen = async (outcome: LookupOutcome) => {
    const withdrawal = await openWithdrawal(room)
    const chain_senders = [outletOf(room, { lookup: async () => outcome })]
    await sendWithdrawalsTask(withdrawalDependencies(room, { chain_senders, signer })).run()
    const { step, attempt, next_try_at } = await reload(withdrawal)
    await db.run(`update withdrawals set next_try_at = 'infinity' where id = $1`, [withdrawal.id])
    return [step, attempt, next_try_at.getTime() - clock.now().getTime()]
  }
  const mined = { result: 'success', block_number: 7 } as const
  assert.deepEqual(await sendWhen({ outcome: 'final', ...mined }), ['signed', 1, 0])
  assert.deepEqual(await sendWhen({ outcome: 'mined', ...mined }), ['signed', 1, 0])
  assert.deepEqual(await sendWhen({ outcome: 'unknown' }), ['reserved', 1, 60_000])
  assert.deepEqual(await sendWhen({ outcome: 'dead' }), ['reserved', 2, 0])
})

test('a transfer from before a restore that is in no block for an hour awaits an operator', async () => {
  await claimNonce(db, { chain: chain.name, address: chain.hot_wallet }, 9n)
  const logged: string[] = []
  let held = 0
  const inc = () => {
    held += 1
  }
  for (const fields of [{}, { refund_of: 'bal_unseen' }]) {
    const withdrawal = await openWithdrawal(room, fields)
    const dependencies = withdrawalDependencies(room, {
      signer: { sign: async () => signedOutcome({ nonce: 5 }) },
      chain_senders: [outletOf(room)],
      log: { ...room.dependencies.log, error: (message) => void logged.push(message) },
      metrics: { held_withdrawals: { inc } as never },
    })
    const shownAfter = async (ms: number) => {
      clock.pass(ms)
      await sendWithdrawalsTask(dependencies).run()
      const { step, status_reason } = await reload(withdrawal)
      return [step, status_reason]
    }
    assert.deepEqual(await shownAfter(0), ['reserved', 'review'])
    assert.deepEqual(await shownAfter(60 * 60_000 - 1), ['reserved', 'review'])
    assert.deepEqual(await shownAfter(60_000), ['review', 'nonce_taken'])
  }
  const unseen = logged.filter((message) => message === 'a transfer signed before is in no block')
  assert.deepEqual([held, unseen.length], [2, 6])
})

test('a signed withdrawal that cannot be looked up is followed after the others', async () => {
  const lost = await openSigned('tron')
  clock.pass(1)
  const next = await openSigned('tron')
  clock.pass(1)
  const lookup: ChainSender['lookup'] = async ({ txid }) => {
    if (txid === lost.txid) throw new Error('broken')
    return { outcome: 'final', result: 'success', block_number: 7 }
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

const sweepsAt = (address: string) =>
  db.rows<{ number: number; step: string; value_micros: bigint }>(
    'select number, step, value_micros from sweeps where address = $1 order by number',
    [address],
  )

test('a sweep that the signer will never sign ends, and the next one has another number', async () => {
  const lasting = ['contract_not_allowed', 'bad_address', 'bad_intent'] as const
  for (const refusal of ['intent_conflict', 'attempt_too_early', ...lasting] as const) {
    const [address = ''] = await openHoldings(1)
    const sign = async ({ id }: TransferIntent): Promise<SignOutcome> =>
      id === `fuel:tron:${address}:1` ? { ok: false, refusal } : signedOutcome()
    const networkParameters = async () => ({ family: 'evm' }) as never
    const chain_senders = [outletOf(room, { networkParameters, missingFuel: async () => 40n })]
    const parts = { chain_senders, signer: { sign } }
    const task = sweepDepositsTask(withdrawalDependencies(room, parts))
    await task.run()
    clock.pass(60 * 60_000)
    await task.run()
    const steps = (await sweepsAt(address)).map(({ number, step }) => [number, step])
    assert.deepEqual(
      steps,
      [
        [1, 'failed'],
        [2, 'fuelling'],
      ],
      refusal,
    )
  }
})

test('a transfer that expires on a chain without nonces is waited for', async () => {
  const [address = ''] = await openHoldings(1)
  const sign = async (): Promise<SignOutcome> => ({ ok: false, refusal: 'attempt_too_early' })
  const networkParameters = async () => ({ family: 'tron' }) as never
  const chain_senders = [outletOf(room, { networkParameters, missingFuel: async () => 40n })]
  const parts = { chain_senders, signer: { sign } }
  await sweepDepositsTask(withdrawalDependencies(room, parts)).run()
  assert.equal((await sweepAt(address))?.step, 'planned')
})

test('a sweep takes the coins that are at the address, and ends if they are too few', async () => {
  const [emptied = '', partial = ''] = await openHoldings(2)
  const held = new Map([
    [emptied, 99_999_999n],
    [partial, 100_000_000n],
  ])
  const assetBalance = async ({ from }: Payment) => held.get(from) ?? 10n ** 12n
  const chain_senders = [outletOf(room, { assetBalance, missingFuel: async () => 40n })]
  await sweepDepositsTask(withdrawalDependencies(room, { chain_senders })).run()
  assert.deepEqual(await sweepsAt(emptied), [
    { number: 1, step: 'failed', value_micros: 200_000_000n },
  ])
  assert.deepEqual(await sweepsAt(partial), [
    { number: 1, step: 'fuelling', value_micros: 100_000_000n },
  ])
})

test('a sweep that the node refuses because its coins have left ends', async () => {
  const [address = ''] = await openHoldings(1)
  let held = 200_000_000n
  const missingFuel = async ({ from }: Payment) => {
    if (from === address && held === 0n) throw new TransferRefused('the balance is too low')
    return 0n
  }
  const chain_senders = [outletOf(room, { assetBalance: async () => held, missingFuel })]
  const task = sweepDepositsTask(withdrawalDependencies(room, { chain_senders }))
  await task.run()
  assert.equal((await sweepAt(address))?.step, 'fuelled')
  held = 0n
  await task.run()
  assert.equal((await sweepAt(address))?.step, 'failed')
})
