import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openMoneyRoom } from '#test/support/money_room.ts'
import { signedRow, withdrawalDependencies } from '#test/support/withdrawal_room.ts'
import { settleSweep, storeLeg, storeLegReplacement, updateStep } from './advance_sweep.ts'
import { findNextNonce } from './sender_order_store.ts'
import { findOpenSweeps, findSweepTransfers, planSweeps, type SweepRow } from './sweep_store.ts'

const room = await openMoneyRoom()
const { db, chain, clock } = room
const dependencies = withdrawalDependencies(room)
const plan = () => planSweeps(db, { chain: 'tron', minimum_micros: 100_000_000n, now: clock.now() })

/** The planned sweep of a new address with 200 USD. */
async function openSweep(): Promise<SweepRow> {
  const topup = await room.openTopup(await room.openAccount())
  await room.deposit(topup, 200_000_000n)
  await plan()
  const address = chain.readAddress(topup.deposit_address)
  const sweep = (await findOpenSweeps(db, 'tron', clock.now())).find(
    (one) => one.address === address,
  )
  assert(sweep !== undefined)
  return sweep
}

async function reload({ chain: name, address, number }: SweepRow) {
  const [row] = await db.rows<SweepRow & { next_try_at: Date }>(
    'select * from sweeps where chain = $1 and address = $2 and number = $3',
    [name, address, number],
  )
  assert(row !== undefined)
  return row
}

const store = (sweep: SweepRow, leg: 'fuel' | 'asset', nonce: bigint | null = null) =>
  storeLeg(dependencies, sweep, { leg, sender: chain.hot_wallet, transfer: signedRow({ nonce }) })

test('planned → fuelling → fuelled → sweeping → done; the address is swept then', async () => {
  const sweep = await openSweep()
  assert.equal(await store(sweep, 'fuel'), true)
  const fuelling = await reload(sweep)
  await settleSweep(dependencies, fuelling, { leg: 'fuel', ok: true })
  const fuelled = await reload(sweep)
  assert.equal(await store(fuelled, 'asset'), true)
  const sweeping = await reload(sweep)
  await settleSweep(dependencies, sweeping, { leg: 'asset', ok: true })
  assert.deepEqual(
    [fuelling.step, fuelled.step, sweeping.step, (await reload(sweep)).step],
    ['fuelling', 'fuelled', 'sweeping', 'done'],
  )
  const [holding] = await db.rows<{ unswept_micros: bigint }>(
    'select unswept_micros from address_holdings where address = $1',
    [sweep.address],
  )
  assert.equal(holding?.unswept_micros, 0n)
})

test('each step is taken once, also by two nodes', async () => {
  const sweep = await openSweep()
  const stored = await Promise.all([store(sweep, 'fuel'), store(sweep, 'fuel')])
  assert.deepEqual(stored.toSorted(), [false, true])
  assert.equal((await findSweepTransfers(db, sweep, 'fuel')).length, 1)
  const fuelling = await reload(sweep)
  const settle = () => settleSweep(dependencies, fuelling, { leg: 'fuel', ok: true })
  await Promise.all([settle(), settle()])
  assert.equal((await reload(sweep)).step, 'fuelled')
})

test('a sweep whose nonce another transfer took stays in its step with a new attempt', async () => {
  const [first, second] = [await openSweep(), await openSweep()]
  assert.equal(await store(first, 'fuel', 5n), true)
  assert.equal(await store(second, 'fuel', 5n), false)
  const { step, attempt } = await reload(second)
  assert.deepEqual([step, attempt], ['planned', 2])
  assert.deepEqual(await findSweepTransfers(db, second, 'fuel'), [])
  const sender = { chain: first.chain, address: chain.hot_wallet }
  assert.equal(await findNextNonce(db, sender), 6, 'the next transfer skips no nonce')
})

test('a reverted leg fails the sweep and pauses the address for an hour', async () => {
  const sweep = await openSweep()
  await store(sweep, 'fuel')
  await settleSweep(dependencies, await reload(sweep), { leg: 'fuel', ok: false })
  assert.equal((await reload(sweep)).step, 'failed')
  const planned = async () => {
    await plan()
    const rows = await db.rows('select 1 from sweeps where address = $1', [sweep.address])
    return rows.length
  }
  clock.pass(60 * 60_000 - 1)
  assert.equal(await planned(), 1)
  clock.pass(1)
  assert.equal(await planned(), 2)
})

test('a step that waits for the chain is checked after three seconds, others immediately', async () => {
  const waitAfter = async (change: Parameters<typeof updateStep>[2]) => {
    const sweep = await openSweep()
    await updateStep(dependencies, sweep, change)
    return (await reload(sweep)).next_try_at.getTime() - clock.now().getTime()
  }
  assert.deepEqual(
    [
      await waitAfter({ step: 'fuelled' }),
      await waitAfter({ step: 'fuelling' }),
      await waitAfter({ fuel: 5n }),
    ],
    [0, 3_000, 3_000],
  )
})

test('a replacement is the next attempt of its leg, and stored only once', async () => {
  const sweep = await openSweep()
  await store(sweep, 'fuel', 90n)
  const fuelling = await reload(sweep)
  const replace = () =>
    storeLegReplacement(dependencies, fuelling, {
      leg: 'fuel',
      transfer: signedRow({ attempt: 2, nonce: 90n }),
    })
  assert.deepEqual([await replace(), await replace()], [true, false])
  const attempts = await findSweepTransfers(db, sweep, 'fuel')
  assert.deepEqual(
    attempts.map(({ attempt }) => attempt),
    [2, 1],
  )
})

test('an address with a deposit held by screening is not swept', async () => {
  const topup = await room.openTopup(await room.openAccount())
  await room.deposit(topup, 200_000_000n)
  await room.deposit(topup, 1_000_000n, 'block')
  await plan()
  const address = chain.readAddress(topup.deposit_address)
  assert.deepEqual(await db.rows('select 1 from sweeps where address = $1', [address]), [])
})
