import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { type Engine, makeEngine } from '#domain/authorizations/engine.ts'
import type { CardRow } from '#domain/cards/card.ts'
import { insertCard } from '#domain/cards/card_store.ts'
import { createPan, openPan } from '#domain/cards/pan_vault.ts'
import type { Dependencies } from '#domain/context/context.ts'
import { move } from '#domain/ledger/move.ts'
import { cardPurse, treasury } from '#domain/ledger/purse.ts'
import { type CardHostDependencies, dispatch } from '#doors/card_host/dispatch.ts'
import type { SignOnState } from '#doors/card_host/network_management.ts'
import { default_link } from '#iso8583/links.ts'
import { decode, encode, type Message, type OutgoingMessage } from '#iso8583/message.ts'
import { idMaker } from '#kernel/id.ts'
import { microsFromUsd } from '#kernel/money.ts'
import { makeDependencies } from '#main/dependencies.ts'
import { type Database, type DatabaseLimits, openDatabase, type Tx } from '#platform/postgres/db.ts'
import { SERVICE_ROLE } from '#platform/postgres/roles.ts'
import { type Clock, systemClock } from '#platform/runtime/clock.ts'
import { type Fail, neverFail } from '#platform/runtime/failpoints.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { readSettings } from '#settings/settings.ts'
import { insertBareAccount } from './accounts.ts'
import { cloneDatabase } from './database.ts'
import { fundTreasury } from './money.ts'

/** The issuer without sockets: the engine and the ISO 8583 translation on a new database. */
export type Issuer = {
  dependencies: Dependencies
  db: Database
  clock: Clock
  engine: Engine
  host: CardHostDependencies
  /** Sends one message as bytes; resolves with the response's bytes. */
  askBytes(body: Uint8Array, state?: SignOnState): Promise<Uint8Array | null>
  ask(message: OutgoingMessage): Promise<Message>
}

type Options = {
  database_url?: string
  batch_max?: number
  lane_count?: number
  clock?: Clock
  data_dir?: string
  fail?: Fail
  limits?: DatabaseLimits
}

export async function openIssuer(
  options: Options = {},
): Promise<Issuer & { url: string; data_dir: string }> {
  const data_dir = options.data_dir ?? (await mkdtemp(join(tmpdir(), 'florin_issuer_')))
  const database = options.database_url === undefined ? await cloneDatabase() : null
  const url = options.database_url ?? database?.url ?? ''
  const { fail = neverFail } = options
  const pool = {
    role: { name: SERVICE_ROLE, can_copy: true },
    pool_size: 6,
    fail,
    ...(options.limits !== undefined && { limits: options.limits }),
  }
  const db = openDatabase(url, pool)
  const engine_db = openDatabase(url, { ...pool, key_lookups: true })
  const clock = options.clock ?? systemClock()
  const settings = readSettings({ FLORIN_DATA_DIR: data_dir, FLORIN_DATABASE_URL: url })
  const dependencies = await makeDependencies(settings, db, { log: silentLog, clock, fail })
  const { batch_max, lane_count } = options
  const engine = makeEngine(
    { ...dependencies, db: engine_db },
    {
      ...(batch_max !== undefined && { batch_max }),
      ...(lane_count !== undefined && { lane_count }),
    },
  )
  after(async () => {
    await engine.drain()
    await Promise.all([db.close(), engine_db.close()])
    await database?.drop()
    if (options.data_dir === undefined) await rm(data_dir, { recursive: true, force: true })
  })
  return { ...issuerOver(dependencies, engine), url, data_dir }
}

export function issuerOver(dependencies: Dependencies, engine: Engine): Issuer {
  const host: CardHostDependencies = { ...dependencies, engine, link: default_link }
  const askBytes = async (body: Uint8Array, state: SignOnState = { sign_on: 'signed_on' }) => {
    const outcome = dispatch(host, state, body)
    return 'response' in outcome ? outcome.response : null
  }
  return {
    dependencies,
    db: dependencies.db,
    clock: dependencies.clock,
    engine,
    host,
    askBytes,
    ask: async (message) => {
      const bytes = await askBytes(encode(default_link, message))
      if (bytes === null) throw new Error('the message was refused without a response')
      return decode(default_link, bytes)
    },
  }
}

export type BareCard = { account_id: string; id: string; pan: string; expiry: string }

const makeId = idMaker(systemRandom.bytes)

/** The event of a card that a test changed directly: the proofs look for it. It has no number. */
export async function insertCardEvent(
  tx: Tx,
  { account_id, id }: { account_id: string; id: string },
  { type, now }: { type: string; now: Date },
): Promise<void> {
  await tx.run(
    `insert into events (account_id, id, type, activity_type, severity, message, card_id,
                         resource_type, resource_id, created_at)
     values ($1, $2, $3, 'card', 'info', 'A card of a test.', $4, 'card', $4, $5)`,
    [account_id, makeId('evt', now.getTime()), type, id, now],
  )
}

type BareCardOptions = {
  account_id?: string
  usd?: number
  treasury_usd?: number
  bin?: string
  usage?: Partial<
    Pick<CardRow, 'usage' | 'merchant_lock_name' | 'merchant_lock_id' | 'valid_until'>
  >
}

/** Inserts a card with a balance directly. */
export async function insertBareCard(
  { db, dependencies }: Pick<Issuer, 'db' | 'dependencies'>,
  options: BareCardOptions = {},
): Promise<BareCard> {
  const { usd = 100, treasury_usd = 0, bin = '400000' } = options
  const account_id = options.account_id ?? (await insertBareAccount(db))
  const now = dependencies.clock.now()
  const id = makeId('card', now.getTime())
  const number = createPan(dependencies, bin, id)
  if (usd + treasury_usd > 0) await fundTreasury(db, account_id, usd + treasury_usd)
  await db.transaction(async (tx) => {
    await insertCard(tx, {
      account_id,
      client_id: null,
      id,
      bin,
      brand: bin.startsWith('4') ? 'visa' : 'mastercard',
      type: 'virtual',
      name: null,
      ...number,
      exp_month: 12,
      exp_year: now.getUTCFullYear() + 3,
      wallet: { apple_pay: 'unsupported', google_pay: 'unsupported' },
      per_transaction_micros: null,
      daily_micros: null,
      monthly_micros: null,
      mcc_allow: null,
      mcc_deny: null,
      geo_allow: null,
      geo_deny: null,
      usage: 'reusable',
      merchant_lock_name: null,
      merchant_lock_id: null,
      valid_until: null,
      ...options.usage,
      shipping: null,
      replaces: null,
      metadata: {},
      created_at: now,
    })
    await insertCardEvent(tx, { account_id, id }, { type: 'card.issued', now })
    if (usd === 0) return
    const loading = {
      movement: 'card_loaded' as const,
      account_id,
      from: treasury,
      to: cardPurse(id),
      amount_micros: microsFromUsd(usd),
      reference: { type: 'test', id: 'load' },
      description: 'Money for a test.',
    }
    await move(tx, loading, { now, newId: dependencies.newId })
  })
  const pan = openPan(dependencies.keys, id, number.pan_sealed).open()
  return { account_id, id, pan, expiry: `${String((now.getUTCFullYear() + 3) % 100)}12` }
}

let trace = 0

/** A purchase like those of the sandbox's merchants; `overrides` replace elements. */
export function purchaseMessage(
  { pan, expiry }: Pick<BareCard, 'pan' | 'expiry'>,
  cents: number,
  overrides: { mti?: string; fields?: Record<number, string | undefined>; now?: Date } = {},
): OutgoingMessage {
  trace += 1
  const digits = (overrides.now ?? new Date()).toISOString().replace(/\D/g, '')
  const stan = String(trace % 1_000_000).padStart(6, '0')
  const fields: Record<number, string | undefined> = {
    2: pan,
    3: '000000',
    4: String(cents).padStart(12, '0'),
    7: digits.slice(4, 14),
    11: stan,
    12: digits.slice(8, 14),
    13: digits.slice(4, 8),
    14: expiry,
    18: '5732',
    19: '840',
    22: '810',
    25: '59',
    32: '400001',
    37: `R${String(trace).padStart(11, '0')}`,
    41: 'TERMINAL',
    42: 'MERCHANT0000001',
    43: 'Test Shop                City         US',
    49: '840',
    ...overrides.fields,
  }
  const sent_fields = Object.entries(fields).filter((entry): entry is [string, string] => {
    return entry[1] !== undefined
  })
  return { mti: overrides.mti ?? '0100', fields: Object.fromEntries(sent_fields) }
}
