import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advance } from '#test/support/calls.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const { url, tasks, runtime, sandbox } = await startTestService()
const message = async () => (await runtime.probes.rails()).message

/** Runs the audit until the rails are operational and returns the number of runs. */
async function runsUntilOperational(): Promise<number> {
  for (let runs = 0; ; runs += 1) {
    if ((await message()) === null || runs === 100) return runs
    await tasks.run(['audit_deposits'])
  }
}

test('a backlog of 2,000 blocks is audited in fewer than 15 runs', async () => {
  await tasks.run(['watch_deposits'])
  sandbox.node.mine(2_000)
  await tasks.run(['watch_deposits'])
  assert.match((await message()) ?? '', /final blocks unaudited/)
  assert((await runsUntilOperational()) < 15)
})

test('twenty days of clock leaps leave at most 4,020 blocks to store and to audit', async () => {
  const { bearer } = await openAccount(url)
  const before = sandbox.node.head().number
  for (let day = 0; day < 20; day += 1) await advance(url, bearer, 86_400)
  assert(sandbox.node.head().number - before <= 20 * 201)
  assert((await runsUntilOperational()) < 20)
})
