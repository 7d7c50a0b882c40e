import pg from 'pg'
import type { Fail } from '#platform/runtime/failpoints.ts'
import { neverFail } from '#platform/runtime/failpoints.ts'
import type { Log } from '#platform/runtime/log.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { poolCloser } from './close_pool.ts'
import { APPLICATION_NAME } from './connected_nodes.ts'
import {
  DatabaseUnavailable,
  faultOf,
  isConnectionDead,
  isRetryable,
  isUnavailable,
} from './database_faults.ts'
import { splitHosts } from './database_url.ts'
import { listen } from './listen.ts'
import { clientOf, connectToPrimary } from './primary_finder.ts'
import { ACCOUNT_ROLE } from './roles.ts'
import { corkUntilNextTick, STATEMENT_TIMEOUT_MS, sendStatement } from './send_statement.ts'
import { prepared } from './statement.ts'
import { destroyConnection, runTransaction } from './transaction.ts'
import { type CommitWith, makeTx, sendCopied, sendInserted, type Tx } from './tx.ts'

export { DatabaseUnavailable } from './database_faults.ts'
export type { CommitWith, Tx } from './tx.ts'

export type Database = Tx & {
  transaction<Value>(work: (tx: Tx, commitWith: CommitWith) => Promise<Value>): Promise<Value>
  /** Runs work on one connection outside a transaction; for migrations and session locks. */
  connection<Value>(work: (client: pg.ClientBase) => Promise<Value>): Promise<Value>
  listen(channel: string, onNotify: (payload: string) => void): Promise<() => Promise<void>>
  close(): Promise<void>
}

/** The database as calls of one account see it: row-level security hides all other rows. */
export type AccountDatabase = Pick<Database, keyof Tx | 'transaction'>

/** Connections for calls of account holders. */
export type AccountPool = {
  of(account_id: string): AccountDatabase
  close(): Promise<void>
}

// bigint columns are money and counters; as numbers they would be rounded.
pg.types.setTypeParser(pg.types.builtins.INT8, (text) => BigInt(text))

const CONNECT_TIMEOUT_MS = 3_000
/** A new connection (SCRAM, a server process, its caches) costs more than hours of idling. */
const POOL_IDLE_MS = 5 * 60_000
const RETRIES_MAX = 3

/** Timeouts that the server enforces. */
export type DatabaseLimits = {
  statement_ms: number
  lock_ms: number
  idle_in_transaction_ms: number
}

/** The role that connections act as. Row-level security may forbid it to COPY. */
export type DatabaseRole = { name: string; can_copy: boolean }

type Options = {
  /** Without it, connections act as the login. */
  role?: DatabaseRole
  pool_size?: number
  limits?: DatabaseLimits
  /** For pools whose statements only look rows up by key. */
  key_lookups?: boolean
  /** Called after every committed transaction, but not after single statements. */
  onCommit?: () => void
  log?: Log
  fail?: Fail
}

const DEFAULT_LIMITS = {
  statement_ms: STATEMENT_TIMEOUT_MS,
  lock_ms: STATEMENT_TIMEOUT_MS / 2,
  idle_in_transaction_ms: STATEMENT_TIMEOUT_MS,
}

export function openDatabase(url: string, options: Options = {}): Database {
  const { checkout, connectOutsidePool, close, log, fail } = openPool(url, options)
  const send = options.role?.can_copy === false ? sendInserted : sendCopied
  const single = (statement: pg.QueryConfig, data?: Buffer) =>
    translateFaults(async () => executeOnce(await checkout(), statement, data))
  return {
    ...makeTx(single, send),
    transaction: async (work) => {
      const value = await retryConflicts(async () =>
        runTransaction(await checkout(), work, { fail, send }),
      )
      options.onCommit?.()
      return value
    },
    connection: async (work) => {
      const client = await checkout()
      let broken: Error | undefined
      try {
        return await work(client)
      } catch (cause) {
        broken = destroyConnection(client, cause)
        throw cause
      } finally {
        client.release(broken)
      }
    },
    listen: (channel, onNotify) => listen(connectOutsidePool, { channel, onNotify, log }),
    close,
  }
}

/**
 * Every statement is sent together with one that sets its account, in the same write. Row-level
 * security then limits it to that account's rows.
 */
export function openAccountPool(url: string, options: Omit<Options, 'role'> = {}): AccountPool {
  const role = { name: ACCOUNT_ROLE, can_copy: false }
  const { checkout, close, fail } = openPool(url, { ...options, role })
  return {
    of: (account_id) => {
      const single = (statement: pg.QueryConfig) =>
        translateFaults(async () => executeFor(await checkout(), account_id, statement))
      return {
        ...makeTx(single, sendInserted),
        transaction: async (work) => {
          const first = prepared(SET_ACCOUNT_LOCALLY, [account_id])
          const settings = { fail, send: sendInserted, first }
          const value = await retryConflicts(async () =>
            runTransaction(await checkout(), work, settings),
          )
          options.onCommit?.()
          return value
        },
      }
    },
    close,
  }
}

const SET_ACCOUNT_LOCALLY = `select set_config('florin.account_id', $1, true)`
const SET_ACCOUNT = `select set_config('florin.account_id', $1, false)`

/** Fails if setting the account fails, so a result of another account is never returned. */
async function executeFor(
  client: pg.PoolClient,
  account_id: string,
  statement: pg.QueryConfig,
): Promise<pg.QueryResult> {
  corkUntilNextTick(client)
  const account_set = sendStatement(client, prepared(SET_ACCOUNT, [account_id])).catch((cause) => {
    throw destroyConnection(client, cause)
  })
  const [result] = await Promise.all([executeOnce(client, statement), account_set])
  return result
}

function openPool(url: string, options: Options) {
  const hosts = splitHosts(url)
  const log = options.log ?? silentLog
  const fail = options.fail ?? neverFail
  const Client = clientOf(hosts)
  const settings = { ...poolSettings(hosts[0] ?? url, options), Client }
  const pool = new pg.Pool(settings)
  // Without this listener, a lost idle connection would end the process.
  pool.on('error', (cause) => log.error('a database connection was lost', {}, cause))
  pool.on('connect', (client) => client.on('error', () => undefined))
  return {
    close: poolCloser(pool),
    checkout: () => translateFaults(() => connectToPrimary(hosts, () => pool.connect())),
    connectOutsidePool: () => connectToPrimary(hosts, () => connectOutsidePool(Client, options)),
    log,
    fail,
  }
}

/**
 * A machine that loses power closes no connection, and by default its peer notices after two hours.
 * The server probes after 5 s and gives up 6 s later, which ends sessions and their locks. Node
 * probes after 5 s, then every second ten times.
 */
const TCP_KEEPALIVE = {
  keepAlive: true,
  keepAliveInitialDelayMillis: 5_000,
}
const SERVER_SETTINGS = [
  '-c tcp_keepalives_idle=5',
  '-c tcp_keepalives_interval=2',
  '-c tcp_keepalives_count=3',
  '-c tcp_user_timeout=10000',
]

/**
 * Statements are planned once and always use an index: a plan made while a table was empty would
 * scan the whole table from then on.
 */
const KEY_LOOKUPS = [
  '-c plan_cache_mode=force_generic_plan',
  '-c enable_seqscan=off',
  '-c enable_hashjoin=off',
  '-c enable_mergejoin=off',
  '-c enable_material=off',
  '-c enable_memoize=off',
  '-c jit=off',
]

/** The role is a connection option: it costs no round trip, and RESET ROLE keeps it. */
function serverSettings({ role, key_lookups = false }: Options): string {
  return [
    ...SERVER_SETTINGS,
    ...(role === undefined ? [] : [`-c role=${role.name}`]),
    ...(key_lookups ? KEY_LOOKUPS : []),
  ].join(' ')
}

function poolSettings(url: string, options: Options): pg.PoolConfig {
  const { pool_size = 16, limits = DEFAULT_LIMITS } = options
  return {
    connectionString: url,
    application_name: APPLICATION_NAME,
    max: pool_size,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: POOL_IDLE_MS,
    statement_timeout: limits.statement_ms,
    lock_timeout: limits.lock_ms,
    idle_in_transaction_session_timeout: limits.idle_in_transaction_ms,
    ...TCP_KEEPALIVE,
    options: serverSettings(options),
    // Statements are sent without waiting for earlier results.
    pipeline: true,
  } as pg.PoolConfig
}

/** A connection outside the pool, to the current host. */
async function connectOutsidePool(Client: typeof pg.Client, { role }: Options): Promise<pg.Client> {
  const client = new Client({
    ...TCP_KEEPALIVE,
    application_name: APPLICATION_NAME,
    options: serverSettings(role === undefined ? {} : { role }),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  client.on('error', () => undefined)
  await new Promise<void>((resolve, reject) => {
    client.connect((cause: Error | null) => (cause === null ? resolve() : reject(cause)))
  })
  return client
}

async function executeOnce(
  client: pg.PoolClient,
  statement: pg.QueryConfig,
  data?: Buffer,
): Promise<pg.QueryResult> {
  let broken: Error | undefined
  try {
    return await sendStatement(client, statement, data)
  } catch (cause) {
    if (isConnectionDead(cause)) broken = destroyConnection(client, cause)
    throw cause
  } finally {
    client.release(broken)
  }
}

/** After a deadlock or serialization failure nothing was written, so the work runs again. */
async function retryConflicts<Value>(work: () => Promise<Value>): Promise<Value> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (cause) {
      if (!isRetryable(cause)) throw cause
      if (attempt >= RETRIES_MAX) throw new DatabaseUnavailable('too much contention', { cause })
    }
  }
}

async function translateFaults<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof DatabaseUnavailable) throw cause
    if (isUnavailable(cause))
      throw new DatabaseUnavailable('the database did not respond', { cause })
    throw faultOf(cause)
  }
}
