import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { after, test } from 'node:test'
import { hexToBytes } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import type { Dependencies } from '#domain/context/context.ts'
import { Secret } from '#kernel/secret.ts'
import { makeDependencies } from '#main/dependencies.ts'
import { nodeFetch } from '#platform/http_client/node_fetch.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { auditSource } from '#rails/chain/audit_source.ts'
import { chainsOf } from '#rails/chain/chain.ts'
import { CHAIN_DEFAULTS } from '#rails/chain/chain_settings.ts'
import { depositSource } from '#rails/chain/deposit_source.ts'
import { networkCheck } from '#rails/chain/network_check.ts'
import { tronAddressFromBytes } from '#rails/chain/tron/address.ts'
import { walletFromPhrase } from '#rails/signer/wallet.ts'
import { startTronNode, type TronNode, USDT_ADDRESS } from '#sandbox/tron_node.ts'
import { readSettings } from '#settings/settings.ts'
import { insertBareAccount } from '#test/support/accounts.ts'
import { cloneDatabase } from '#test/support/database.ts'
import { assertBooksSound } from '#test/support/money.ts'
import { insertBareTopup } from '#test/support/topups.ts'
import { auditDepositsTask } from './audit_deposits_task.ts'
import { watchDepositsTask } from './watch_deposits_task.ts'

const PHRASE = new Secret('test test test test test test test test test test test junk')
const wallet = walletFromPhrase(PHRASE)
const SEED = Number(process.env['FLORIN_SEED'] ?? randomInt(2 ** 31))
const ADDRESSES = 3
/** The long test runs the same property this many times more often. */
const LENGTH = Number(process.env['FLORIN_TEST_LENGTH'] ?? 8)

const database = await cloneDatabase()
const db = openDatabase(database.url, { pool_size: 8 })
after(async () => {
  await db.close()
  await database.drop()
})

/** The events between two reads of the chain. */
type ChainChange =
  | { deed: 'deposit'; to: number; micros: number }
  | { deed: 'mine'; blocks: number }
  | { deed: 'reorg'; depth: number; keep: 'all' | 'none' | 'pool' }
  | { deed: 'fault'; kind: 'lost_logs' | 'garbage' | 'lagging_head' | 'status' }
  | { deed: 'look'; watchers: 1 | 2 }
  | { deed: 'restart' }

const deeds = fc.array(
  fc.oneof<fc.Arbitrary<ChainChange>[]>(
    fc.record({
      deed: fc.constant('deposit' as const),
      to: fc.nat({ max: ADDRESSES - 1 }),
      micros: fc.integer({ min: 1, max: 3_000_000 }),
    }),
    fc.record({ deed: fc.constant('mine' as const), blocks: fc.integer({ min: 1, max: 8 }) }),
    fc.record({
      deed: fc.constant('reorg' as const),
      depth: fc.integer({ min: 1, max: 17 }),
      keep: fc.constantFrom('all' as const, 'none' as const, 'pool' as const),
    }),
    fc.record({
      deed: fc.constant('fault' as const),
      kind: fc.constantFrom('lost_logs', 'garbage', 'lagging_head', 'status'),
    }) as fc.Arbitrary<ChainChange>,
    fc.record({
      deed: fc.constant('look' as const),
      watchers: fc.constantFrom(1 as const, 2 as const),
    }),
    fc.record({ deed: fc.constant('restart' as const) }),
  ),
  { minLength: 5, maxLength: 30 },
)

/** A chain and a service of its own name on the shared database, so that runs do not meet. */
async function scene(run: number) {
  const node = await startTronNode({ now: () => Date.now() })
  const settings = readSettings({
    FLORIN_DATA_DIR: '/tmp/florin_property',
    FLORIN_CHAINS: JSON.stringify([
      {
        ...CHAIN_DEFAULTS,
        chain: `tron_${run}`,
        family: 'tron',
        url: node.url,
        xpub: wallet.xpub('tron'),
        hot_wallet: tronAddressFromBytes(hexToBytes(wallet.addressOf('tron', null))),
        assets: [{ asset: 'USDT', contract: USDT_ADDRESS }],
        chain_id: 728_126_428,
        start_block: 0,
      },
    ]),
  })
  const dependencies = await makeDependencies(settings, db, {
    log: silentLog,
    clock: systemClock(),
  })
  return {
    node,
    dependencies,
    watchers: [watcherOf(dependencies), watcherOf(dependencies)] as const,
  }
}

function watcherOf(dependencies: Dependencies) {
  const fetch = nodeFetch(2_000)
  const [chain] = chainsOf(dependencies.settings.chains).values()
  assert(chain !== undefined)
  const source = depositSource(chain.settings, fetch)
  const check = networkCheck(chain, source)
  const watch = watchDepositsTask(dependencies, [{ chain, source, check }])
  const audit = auditDepositsTask(dependencies, [
    { chain, source: auditSource(chain, fetch), check },
  ])
  return {
    /** A run with a fault fails, and the next one continues. */
    look: async () => {
      await watch.run().catch(() => undefined)
      await audit.run().catch(() => undefined)
    },
  }
}

async function openTopups({ dependencies }: Awaited<ReturnType<typeof scene>>, run: number) {
  const [chain] = chainsOf(dependencies.settings.chains).values()
  assert(chain !== undefined)
  const account_id = await insertBareAccount(db)
  const topups = []
  for (let at = 0; at < ADDRESSES; at += 1) {
    const { index, address } = chain.deposit_addresses.at(run * ADDRESSES + at)
    const now = new Date()
    const row = await insertBareTopup(dependencies, {
      account_id,
      id: dependencies.newId('tup', now),
      asset: 'USDT',
      chain: chain.name,
      deposit_address: address,
      address: chain.readAddress(address) ?? '',
      address_index: index,
      amount_micros: 1_000_000n,
      qr_data_uri: '',
      payment_uri: '',
      expires_at: new Date(now.getTime() + 3_600_000),
      metadata: {},
      created_at: now,
    })
    topups.push(row)
  }
  return topups
}

function happen(node: TronNode, addresses: readonly string[], one: ChainChange): void {
  switch (one.deed) {
    case 'deposit':
      node.transferUsdt({ to: addresses[one.to] ?? '', amount_micros: BigInt(one.micros) })
      return
    case 'mine':
      node.mine(one.blocks)
      return
    case 'reorg':
      node.reorg({ depth: one.depth, keep: one.keep })
      return
    case 'fault': {
      const { kind } = one
      if (kind === 'lagging_head') node.fault({ kind, blocks: 3, times: 2 })
      else if (kind === 'status') node.fault({ kind, status: 500, times: 2 })
      else node.fault({ kind, times: 2 })
    }
  }
}

let runs = 0
let looks = 0

test(`random histories credit each final transfer once, seed ${SEED}`, async (t) => {
  await fc.assert(
    fc.asyncProperty(deeds, async (history) => {
      runs += 1
      const run = runs
      const stage = await scene(run)
      try {
        const topups = await openTopups(stage, run)
        const addresses = topups.map(({ deposit_address }) => deposit_address)
        let { watchers } = stage
        for (const one of history) {
          if (one.deed === 'restart')
            watchers = [watcherOf(stage.dependencies), watcherOf(stage.dependencies)]
          else if (one.deed === 'look') {
            looks += one.watchers
            await Promise.all(watchers.slice(0, one.watchers).map(({ look }) => look()))
            await assertNothingEarly(stage.node, topups)
          } else happen(stage.node, addresses, one)
        }
        await heal(stage, watchers)
        await assertCredited(stage.node, topups)
      } finally {
        await stage.node.stop()
      }
    }),
    { seed: SEED, numRuns: 25 * LENGTH, interruptAfterTimeLimit: 60_000 * LENGTH },
  )
  await assertBooksSound(db)
  const [{ count = 0 } = {}] = await db.rows<{ count: number }>(
    'select count(*)::int as count from chain_transfers',
  )
  t.diagnostic(`${runs} histories, ${looks} looks, ${count} final transfers, each credited once`)
  assert(count > 0)
})

type Stage = Awaited<ReturnType<typeof scene>>
type Watchers = Stage['watchers']

/** The node behaves again and time passes: everything that is on the chain becomes final. */
async function heal({ node }: Stage, [first, second]: Watchers): Promise<void> {
  node.clearFaults()
  node.mine(20)
  for (let look = 0; look < 3; look += 1) await Promise.all([first.look(), second.look()])
}

type Topups = Awaited<ReturnType<typeof openTopups>>

async function finalsOf(topups: Topups) {
  return db.rows<{ id: string; final: bigint; credited: bigint; status: string }>(
    `select id, final_micros as final, credited_micros as credited, status
       from topups where id = any($1)`,
    [topups.map(({ id }) => id)],
  )
}

/** Never more than the chain holds, whatever the node said. */
async function assertNothingEarly(node: TronNode, topups: Topups): Promise<void> {
  for (const { id, final } of await finalsOf(topups)) {
    const address = topups.find((topup) => topup.id === id)?.deposit_address ?? ''
    assert(final <= node.balanceOf(address), `${address} has ${final}`)
  }
}

/** The balance on the chain is the sum of its final transfers, for nothing was ever swept here. */
async function assertCredited(node: TronNode, topups: Topups): Promise<void> {
  for (const { id, final, credited, status } of await finalsOf(topups)) {
    const address = topups.find((topup) => topup.id === id)?.deposit_address ?? ''
    const held = node.balanceOf(address)
    assert.equal(final, held, `${address}, ${status}`)
    assert.equal(credited, held >= 1_000_000n ? held : 0n)
    const expected = held === 0n ? 'awaiting' : held >= 1_000_000n ? 'completed' : 'error'
    assert.equal(status, expected)
  }
}
