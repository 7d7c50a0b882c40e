import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advance } from '#test/support/calls.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const { url, tasks, runtime, sandbox } = await startTestService()
const message = async () => (await runtime.probes.rails()).message

/** How many passes of the audit it takes until the rails are operational. */
async function passesUntilWell(): Promise<number> {
  for (let passes = 0; ; passes += 1) {
    if ((await message()) === null || passes === 100) return passes
    await tasks.run(['audit_deposits'])
  }
}

test('an audit that is 2,000 blocks behind is done in fewer passes than 100 blocks each', async () => {
  await tasks.run(['watch_deposits'])
  sandbox.node.mine(2_000)
  await tasks.run(['watch_deposits'])
  assert.match((await message()) ?? '', /final blocks unaudited/)
  assert((await passesUntilWell()) < 15)
})

test('twenty days of clock leaps leave at most 4,000 blocks to keep and to audit', async () => {
  const { bearer } = await openAccount(url)
  const before = sandbox.node.head().number
  for (let day = 0; day < 20; day += 1) await advance(url, bearer, 86_400)
  assert(sandbox.node.head().number - before <= 20 * 201)
  assert((await passesUntilWell()) < 20)
})
