import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { systemClock } from '#platform/runtime/clock.ts'
import type { Failpoint } from '#platform/runtime/failpoints.ts'
import { depositAddresses } from '#rails/chain/derive.ts'
import { eventually } from '#test/support/eventually.ts'
import { assertBooksSound, fundTreasury } from '#test/support/money.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { requestedTo, withdrawalOf } from '#test/support/withdrawals.ts'

/** Every place between the order and its end where a process may die. */
const POINTS: readonly Failpoint[] = [
  'before_sign',
  'after_sign',
  'after_transfer_stored',
  'after_broadcast',
  'after_broadcast_noted',
  'before_withdrawal_settled',
  'after_withdrawal_settled',
]

// This service accepts withdrawals but runs no tasks, so only the crashing ones send them.
const service = await startTestService({
  dependencies: { clock: { ...systemClock(), every: () => () => undefined } },
})
const { url, sandbox, data_dir, database_url } = service
const { db } = service.runtime
const { node } = sandbox
const folder = mkdtempSync(join(tmpdir(), 'florin_mortal_'))
after(() => rmSync(folder, { recursive: true, force: true }))

function spawnService(crash_at: Failpoint | ''): ChildProcess {
  const program = fileURLToPath(new URL('../support/mortal.js', import.meta.url))
  const child = spawn(process.execPath, [program], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      CRASH_AT: crash_at,
      SEED_FILE: join(data_dir, 'sandbox_seed'),
      FLORIN_PORT: '0',
      FLORIN_ISO_PORT: '0',
      FLORIN_DATA_DIR: folder,
      FLORIN_KEY_FILE: join(data_dir, 'keys.json'),
      FLORIN_DATABASE_URL: database_url,
      FLORIN_CHAINS: JSON.stringify(sandbox.settings.chains),
    },
  })
  return child
}

/** Blocks are mined fast, so they are final soon. */
async function whileMining<Value>(work: Promise<Value>): Promise<Value> {
  let isOver = false
  const mining = (async () => {
    while (!isOver) {
      node.mine()
      await wait(60)
    }
  })()
  return work.finally(async () => {
    isOver = true
    await mining
  })
}

const ended = (child: ChildProcess) =>
  new Promise<NodeJS.Signals | number | null>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? code))
  })

test('a crash at any point neither sends twice nor loses one', { timeout: 300_000 }, async (t) => {
  const person = await openAccount(url)
  const account = { url, bearer: person.bearer }
  await fundTreasury(db, person.account_id, 1_000)
  // Far beyond what is given out: wallets that neither the service nor the chain has seen.
  const wallets = depositAddresses('tron', sandbox.settings.chains[0]?.xpub ?? '')
  const orders: { id: string; address: string; point: Failpoint }[] = []
  for (const [at, point] of POINTS.entries()) {
    const { address } = wallets.at(1_000_000 + at)
    const { id } = await requestedTo(account, address, 20 + at)
    orders.push({ id, address, point })
    const child = spawnService(point)
    assert.equal(await whileMining(ended(child)), 'SIGKILL', point)
  }
  const survivor = spawnService('')
  try {
    const areDone = eventually(
      async () => {
        const all = await Promise.all(orders.map(({ id }) => withdrawalOf(account, id)))
        return all.every(({ status }) => status === 'completed')
      },
      { within_ms: 60_000 },
    )
    assert(await whileMining(areDone))
  } finally {
    const over = ended(survivor)
    survivor.kill('SIGTERM')
    survivor.kill('SIGKILL')
    await over
  }
  for (const [at, { address, point }] of orders.entries()) {
    assert.equal(node.balanceOf(address), BigInt(19 + at) * 1_000_000n, point)
  }
  const told = await db.rows(
    `select 1 from events where account_id = $1 and type = 'withdrawal.broadcasted'`,
    [person.account_id],
  )
  assert.equal(told.length, POINTS.length)
  await assertBooksSound(db)
  t.diagnostic(`${POINTS.length} crashes, ${orders.length} withdrawals, 0 sent twice, 0 lost`)
})
