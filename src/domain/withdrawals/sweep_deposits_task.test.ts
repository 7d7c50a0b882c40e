import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '#test/support/eventually.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { awaitedTopup, balanceOf, onChain } from '#test/support/topups.ts'

const service = await startTestService()
const { url, sandbox, tasks } = service
const { node } = sandbox
const { db } = service.runtime
const hot_wallet = service.runtime.settings.chains[0]?.hot_wallet ?? ''

async function swept(is: () => boolean): Promise<boolean> {
  return eventually(
    async () => {
      node.mine(19)
      await tasks.run(['sweep_deposits'])
      return is()
    },
    { within_ms: 30_000 },
  )
}

async function paid(bearer: string, amount_usd: number): Promise<string> {
  const { id, deposit_address } = await awaitedTopup(url, bearer, amount_usd)
  await onChain({ url, bearer, id }, 'deposit', { amount_usd })
  await onChain({ url, bearer, id }, 'confirm')
  return deposit_address
}

test('deposits above the minimum reach the hot wallet, fuel first, and no balance changes', async () => {
  const { bearer } = await openAccount(url)
  const before = node.balanceOf(hot_wallet)
  const address = await paid(bearer, 150)
  const small = await paid(bearer, 20)
  assert(await swept(() => node.balanceOf(address) === 0n))
  assert.equal(node.balanceOf(hot_wallet) - before, 150_000_000n)
  assert.equal(node.balanceOf(small), 20_000_000n)
  assert.equal((await balanceOf(url, bearer)).balance_usd, 170)
  await assertBooksSound(db)
})

test('a swept address is not swept again', async () => {
  const { bearer } = await openAccount(url)
  const address = await paid(bearer, 200)
  assert(await swept(() => node.balanceOf(address) === 0n))
  await swept(() => true)
  const rows = () =>
    db.rows<{ number: number; value_micros: bigint }>(
      'select number, value_micros from sweeps where value_micros >= 200000000 order by number',
    )
  assert.deepEqual(await rows(), [{ number: 1, value_micros: 200_000_000n }])
})
