import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { hexToBytes } from '@noble/hashes/utils.js'
import type { Dependencies, NewAuditEntry, NewEvent } from '#domain/context/context.ts'
import type { OperatorContext, OperatorPreparing } from '#domain/operators/operator.ts'
import { settleDeposits } from '#domain/topups/settle_deposits.ts'
import type { TopupRow } from '#domain/topups/topup.ts'
import { takeAddressIndex } from '#domain/topups/topup_store.ts'
import { assert } from '#kernel/assert.ts'
import type { IdPrefix } from '#kernel/id.ts'
import { Secret } from '#kernel/secret.ts'
import { makeDependencies } from '#main/dependencies.ts'
import { type Database, openDatabase, type Tx } from '#platform/postgres/db.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { type Chain, chainsOf } from '#rails/chain/chain.ts'
import { CHAIN_DEFAULTS } from '#rails/chain/chain_settings.ts'
import { tronAddressFromBytes } from '#rails/chain/tron/address.ts'
import type { Screening } from '#rails/screening/screening.ts'
import { walletFromPhrase } from '#rails/signer/wallet.ts'
import { readSettings } from '#settings/settings.ts'
import { insertBareAccount } from './accounts.ts'
import { cloneDatabase } from './database.ts'
import { fundTreasury } from './money.ts'
import { insertBareTopup } from './topups.ts'

const wallet = walletFromPhrase(
  new Secret('test test test test test test test test test test test junk'),
)

/** The domain on a database of its own, with a TRON chain whose node no test here reaches. */
export type MoneyRoom = {
  db: Database
  dependencies: Dependencies
  chain: Chain
  clock: { now(): Date; set(now: Date): void; pass(ms: number): void }
  openAccount(usd?: number): Promise<string>
  openTopup(account_id: string, fields?: Partial<TopupRow>): Promise<TopupRow>
  /** A final transfer to a top-up; returns the id of its movement. */
  deposit(topup: TopupRow, micros: bigint, decision?: Screening['decision']): Promise<string>
  /** Runs an operator's action in a transaction. */
  operate<Value>(
    action: (context: OperatorContext) => Promise<Value>,
  ): Promise<OperatorOutcome<Value>>
  /** Prepares an operator's action outside its transaction, then runs it. */
  prepareAndOperate<Input, Value>(
    handler: PreparedAction<Input, Value>,
    input: Input,
  ): Promise<OperatorOutcome<Value>>
}

type PreparedAction<Input, Value> = {
  prepare(
    context: OperatorPreparing,
    input: Input,
  ): Promise<(context: OperatorContext, input: Input) => Promise<Value>>
}

type OperatorOutcome<Value> = {
  value: Value
  events: NewEvent[]
  entries: NewAuditEntry[]
  /** The accounts whose cached credentials every node drops. */
  changed_accounts: string[]
}

export const ROOM_NOW = new Date('2031-03-04T05:06:07.000Z')

const tron_settings = {
  ...CHAIN_DEFAULTS,
  chain: 'tron',
  family: 'tron',
  url: 'http://127.0.0.1:9',
  xpub: wallet.xpub('tron'),
  hot_wallet: tronAddressFromBytes(hexToBytes(wallet.addressOf('tron', null))),
  assets: [{ asset: 'USDT', contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' }],
  chain_id: 728_126_428,
  start_block: 0,
}

/** On an empty database, or on a clone of `template`. */
export async function openMoneyRoom(
  env: Record<string, string> = {},
  template?: string,
): Promise<MoneyRoom> {
  const data_dir = await mkdtemp(join(tmpdir(), 'florin_room_'))
  const database = await cloneDatabase(template)
  const db = openDatabase(database.url, { pool_size: 8 })
  after(async () => {
    await db.close()
    await database.drop()
    await rm(data_dir, { recursive: true, force: true })
  })
  const settings = readSettings({
    FLORIN_DATA_DIR: data_dir,
    FLORIN_CHAINS: JSON.stringify([tron_settings]),
    ...env,
  })
  let now = ROOM_NOW
  const clock = { ...systemClock(), now: () => now, wall: () => now }
  const dependencies = await makeDependencies(settings, db, { log: silentLog, clock })
  const chain = chainsOf(settings.chains).get('tron')
  assert(chain !== undefined, 'the room has a TRON chain')
  return {
    db,
    dependencies,
    chain,
    clock: {
      now: () => now,
      set: (next) => {
        now = next
      },
      pass: (ms) => {
        now = new Date(now.getTime() + ms)
      },
    },
    openAccount: async (usd = 0) => {
      const account_id = await insertBareAccount(db)
      if (usd > 0) await fundTreasury(db, account_id, usd)
      return account_id
    },
    openTopup: (account_id, fields) => openTopup({ dependencies, chain }, account_id, fields),
    deposit: (topup, micros, decision) => deposit({ dependencies, chain }, topup, micros, decision),
    operate: (action) => operate(dependencies, action),
    prepareAndOperate: async (handler, input) => {
      const run = await handler.prepare(preparingContextOf(dependencies), input)
      return operate(dependencies, (context) => run(context, input))
    },
  }
}

type RoomContext = { dependencies: Dependencies; chain: Chain }

async function openTopup(
  { dependencies, chain }: RoomContext,
  account_id: string,
  fields: Partial<TopupRow> = {},
): Promise<TopupRow> {
  const { db, clock, newId, settings } = dependencies
  const now = clock.now()
  const { index, address } = chain.deposit_addresses.at(await takeAddressIndex(db, settings))
  return insertBareTopup(dependencies, {
    account_id,
    id: newId('tup', now),
    asset: 'USDT',
    chain: chain.name,
    deposit_address: address,
    address: chain.readAddress(address) ?? '',
    address_index: index,
    amount_micros: 25_000_000n,
    qr_data_uri: 'data:,',
    payment_uri: 'tron:',
    expires_at: new Date(now.getTime() + 3_600_000),
    metadata: {},
    created_at: now,
    ...fields,
  })
}

let transfers = 0

async function deposit(
  { dependencies, chain }: RoomContext,
  topup: TopupRow,
  value: bigint,
  decision: Screening['decision'] = 'allow',
): Promise<string> {
  transfers += 1
  const txid = transfers.toString(16).padStart(64, '0')
  const { account_id, id: topup_id } = topup
  const address = chain.readAddress(topup.deposit_address) ?? ''
  const block = { block_number: transfers, block_hash: txid, block_at: dependencies.clock.now() }
  const screening = { decision, source: 'test', list_version: '1' }
  const owner = { account_id, topup_id, address, to: address, from: SENDER }
  const transfer = { txid, ordinal: 0, asset: 'USDT', value, ...block, ...owner, screening }
  await settleDeposits(dependencies, chain, {
    account_id,
    topup_id,
    final_transfers: [transfer],
    pending: null,
  })
  const [row] = await dependencies.db.rows<{ movement_id: string }>(
    'select movement_id from chain_transfers where txid = $1',
    [txid],
  )
  assert(row !== undefined, 'the deposit was recorded')
  return row.movement_id
}

/** The address of every depositor. */
export const SENDER = 'ab'.repeat(20)

const callContextOf = (dependencies: Dependencies) => {
  const now = dependencies.clock.now()
  return {
    ...dependencies,
    now,
    newId: (prefix: IdPrefix, at: Date = now) => dependencies.newId(prefix, at),
    caller: null,
    operator: { id: 'op_1', name: 'Olga', role: 'admin' as const },
    rate: { burst_per_second: 60, sustained_per_minute: 1_000, remaining: 999, reset_ms: 0 },
    request: {
      id: 'req_1',
      ip: '127.0.0.1',
      user_agent: '',
      idempotency_key: null,
      header: () => null,
    },
  }
}

/** Operators' preparations audit nothing. */
const preparingContextOf = (dependencies: Dependencies): OperatorPreparing => ({
  ...callContextOf(dependencies),
  auditRefusal: () => Promise.reject(new Error('not expected')),
  auditIn: () => Promise.reject(new Error('not expected')),
})

async function operate<Value>(
  dependencies: Dependencies,
  action: (context: OperatorContext) => Promise<Value>,
): Promise<OperatorOutcome<Value>> {
  const events: NewEvent[] = []
  const entries: NewAuditEntry[] = []
  const changed_accounts: string[] = []
  const contextOf = (tx: Tx): OperatorContext => ({
    ...callContextOf(dependencies),
    tx,
    emit: (_, event) => void events.push(event),
    audit: (_, entry) => void entries.push(entry),
    alert: () => undefined,
    credentialsChanged: (account_id) => void changed_accounts.push(account_id),
  })
  const value = await dependencies.db.transaction((tx) => action(contextOf(tx)))
  return { value, events, entries, changed_accounts }
}
