import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type AddressScreener, noScreener } from '#rails/screening/screening.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { databaseProxy } from '#test/support/database_proxy.ts'
import { eventually } from '#test/support/eventually.ts'
import { send } from '#test/support/http.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'
import { awaitedTopup, balanceOf, onChain, topupOf } from '#test/support/topups.ts'

const TAKEOVER_MS = 15_000

const database = await cloneDatabase()
const proxy = await databaseProxy(database.url)
const data_dir = await mkdtemp(join(tmpdir(), 'florin_silent_'))
// The first node falls silent while it screens the sender, which it does under its lease.
let isScreening = false
let resume = () => {}
const resumed = new Promise<void>((resolve) => {
  resume = resolve
})
const screener: AddressScreener = {
  screen: async (question) => {
    isScreening = true
    await resumed
    return noScreener.screen(question)
  },
}
const silent = await startTestService({
  database_url: proxy.url,
  data_dir,
  dependencies: { screener },
})
after(async () => {
  await proxy.close()
  await database.drop()
  await rm(data_dir, { recursive: true, force: true })
})

test('a node that goes silent during a deposit is replaced within 15 seconds', async () => {
  const { bearer } = await openAccount(silent.url)
  const { id } = await awaitedTopup(silent.url, bearer)
  await onChain({ url: silent.url, bearer, id }, 'deposit', { amount_usd: 25 })
  silent.sandbox.node.mine(60)
  assert.ok(await eventually(async () => isScreening, { within_ms: 10_000 }))
  proxy.stall()
  const began = performance.now()
  try {
    const { url } = await startTestService({ database_url: database.url, data_dir })
    const isCredited = async () => (await topupOf(url, bearer, id)).status === 'completed'
    const within_ms = TAKEOVER_MS - (performance.now() - began)
    assert.ok(await eventually(isCredited, { within_ms }), 'nobody took over')
  } finally {
    await proxy.heal()
    resume()
  }
  await silent.tasks.run(['watch_deposits'])
  const isBack = async () =>
    (await send(silent.url, 'GET', '/v1/balance', { bearer })).status === 200
  assert.ok(await eventually(isBack, { within_ms: 15_000 }), 'the silent node did not come back')
  assert.equal((await balanceOf(silent.url, bearer)).balance_usd, 25)
  await assertBooksSound(silent.runtime.db)
})
