import pg from 'pg'
import type { Fail } from '#platform/runtime/failpoints.ts'
import { neverFail } from '#platform/runtime/failpoints.ts'
import type { Log } from '#platform/runtime/log.ts'
import { silentLog } from '#platform/runtime/log.ts'
import {
  DatabaseUnavailable,
  faultOf,
  isRetryable,
  isUnavailable,
  isUseless,
} from './database_faults.ts'
import { splitHosts } from './database_url.ts'
import { listen } from './listen.ts'
import { ACCOUNT_ROLE } from './roles.ts'
import { corkUntilNextTick, STATEMENT_TIMEOUT_MS, sendStatement } from './send_statement.ts'
import { prepared } from './statement.ts'
import { destroyConnection, inTransaction } from './transaction.ts'
import { type CommitWith, makeTx, sendCopied, sendInserted, type Tx } from './tx.ts'

export { DatabaseUnavailable } from './database_faults.ts'
export type { CommitWith, Tx } from './tx.ts'

export type Database = Tx & {
  transaction<Value>(work: (tx: Tx, commitWith: CommitWith) => Promise<Value>): Promise<Value>
  /** Runs work on one connection outside a transaction; for migrations and locks of a session. */
  connection<Value>(work: (client: pg.ClientBase) => Promise<Value>): Promise<Value>
  listen(channel: string, hear: (payload: string) => void): Promise<() => Promise<void>>
  close(): Promise<void>
}

/** The database as calls of one account see it. */
export type AccountDatabase = Pick<Database, keyof Tx | 'transaction'>

/** Connections of calls that are made for an account. */
export type AccountPool = {
  of(account_id: string): AccountDatabase
  close(): Promise<void>
}

// bigint columns are money and counters: they come as bigint, never as a rounded number.
pg.types.setTypeParser(pg.types.builtins.INT8, (text) => BigInt(text))

const CONNECT_TIMEOUT_MS = 3_000
/** A new connection costs more than an idle one does in hours: SCRAM, a process, its caches. */
const POOL_IDLE_MS = 5 * 60_000
const RETRIES_MAX = 3

/** The server's own limits on what a pool asks. */
export type DatabaseLimits = {
  statement_ms: number
  lock_ms: number
  idle_in_transaction_ms: number
}

/** The role that connections act as, and whether row-level security leaves COPY to it. */
export type DatabaseRole = { name: string; can_copy: boolean }

type Options = {
  /** Otherwise they act as the login. */
  role?: DatabaseRole
  pool_size?: number
  limits?: DatabaseLimits
  /** For statements that only look rows up by their keys, over and over. */
  key_lookups?: boolean
  /** Called after every committed transaction; statements by themselves are not counted. */
  onCommit?: () => void
  log?: Log
  fail?: Fail
}

const STANDARD_LIMITS = {
  statement_ms: STATEMENT_TIMEOUT_MS,
  lock_ms: STATEMENT_TIMEOUT_MS / 2,
  idle_in_transaction_ms: STATEMENT_TIMEOUT_MS,
}

export function openDatabase(url: string, options: Options = {}): Database {
  const { pool, checkout, dialOne, log, fail } = openPool(url, options)
  const send = options.role?.can_copy === false ? sendInserted : sendCopied
  const single = (statement: pg.QueryConfig, data?: Buffer) =>
    guarded(async () => askOnce(await checkout(), statement, data))
  return {
    ...makeTx(single, send),
    transaction: async (work) => {
      const manner = { fail, send }
      const value = await retried(async () => inTransaction(await checkout(), work, manner))
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
    listen: (channel, hear) => listen(dialOne, { channel, hear, log }),
    close: () => pool.end(),
  }
}

/**
 * Every statement is sent right behind one that names its account, without waiting for it:
 * row-level security shows and takes the rows of that account only.
 */
export function openAccountPool(url: string, options: Omit<Options, 'role'> = {}): AccountPool {
  const role = { name: ACCOUNT_ROLE, can_copy: false }
  const { pool, checkout, fail } = openPool(url, { ...options, role })
  return {
    of: (account_id) => {
      const single = (statement: pg.QueryConfig) =>
        guarded(async () => askFor(await checkout(), account_id, statement))
      return {
        ...makeTx(single, sendInserted),
        transaction: async (work) => {
          const first = prepared(WITHIN_TRANSACTION, [account_id])
          const manner = { fail, send: sendInserted, first }
          const value = await retried(async () => inTransaction(await checkout(), work, manner))
          options.onCommit?.()
          return value
        },
      }
    },
    close: () => pool.end(),
  }
}

const WITHIN_TRANSACTION = `select set_config('florin.account_id', $1, true)`
const UNTIL_THE_NEXT = `select set_config('florin.account_id', $1, false)`

/** What was read is not given out unless it was read for this account. */
async function askFor(
  client: pg.PoolClient,
  account_id: string,
  statement: pg.QueryConfig,
): Promise<pg.QueryResult> {
  corkUntilNextTick(client)
  const named_account = sendStatement(client, prepared(UNTIL_THE_NEXT, [account_id])).catch(
    (cause) => {
      throw destroyConnection(client, cause)
    },
  )
  const [result] = await Promise.all([askOnce(client, statement), named_account])
  return result
}

function openPool(url: string, options: Options) {
  const hosts = splitHosts(url)
  const log = options.log ?? silentLog
  const fail = options.fail ?? neverFail
  const Client = clientOver(hosts)
  const settings = { ...poolSettings(hosts[0] ?? url, options), Client }
  const pool = new pg.Pool(settings)
  // A server that goes away ends idle clients; without a listener that would end the process.
  pool.on('error', (cause) => log.error('a database connection was lost', {}, cause))
  pool.on('connect', (client) => client.on('error', () => undefined))
  return {
    pool,
    checkout: () => guarded(() => dial(pool, hosts.length)),
    dialOne: () => dialOne(Client, options),
    log,
    fail,
  }
}

/**
 * A machine that loses power closes nothing, and by default its peer would notice after two hours.
 * The server asks after 5 s and gives up 6 s later, so that sessions and their locks end; Node asks
 * after 5 s, then every second ten times.
 */
const SILENCE_NOTICED = {
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
 * Planned once, not for each set of parameters anew; and always by index: a plan that was made
 * while a table was empty would read all of it for ever.
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

/** The role is set as the connection is made: it costs no round trip, and RESET ROLE keeps it. */
function serverSettings({ role, key_lookups = false }: Options): string {
  return [
    ...SERVER_SETTINGS,
    ...(role === undefined ? [] : [`-c role=${role.name}`]),
    ...(key_lookups ? KEY_LOOKUPS : []),
  ].join(' ')
}

function poolSettings(url: string, options: Options): pg.PoolConfig {
  const { pool_size = 16, limits = STANDARD_LIMITS } = options
  return {
    connectionString: url,
    max: pool_size,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: POOL_IDLE_MS,
    statement_timeout: limits.statement_ms,
    lock_timeout: limits.lock_ms,
    idle_in_transaction_session_timeout: limits.idle_in_transaction_ms,
    ...SILENCE_NOTICED,
    options: serverSettings(options),
    // Statements of one connection may be sent before the answers of earlier ones have come.
    pipeline: true,
  } as pg.PoolConfig
}

/** A client, from whichever host will have one: each is asked once before the caller hears no. */
async function dial(pool: pg.Pool, hosts: number): Promise<pg.PoolClient> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await pool.connect()
    } catch (cause) {
      if (attempt >= hosts) throw cause
    }
  }
}

/** A client outside the pool, from the host whose turn it is. */
async function dialOne(Client: typeof pg.Client, { role }: Options): Promise<pg.Client> {
  const client = new Client({
    ...SILENCE_NOTICED,
    options: serverSettings(role === undefined ? {} : { role }),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  client.on('error', () => undefined)
  await new Promise<void>((resolve, reject) => {
    client.connect((cause: Error | null) => (cause === null ? resolve() : reject(cause)))
  })
  return client
}

async function askOnce(
  client: pg.PoolClient,
  statement: pg.QueryConfig,
  data?: Buffer,
): Promise<pg.QueryResult> {
  let broken: Error | undefined
  try {
    return await sendStatement(client, statement, data)
  } catch (cause) {
    if (isUseless(cause)) broken = destroyConnection(client, cause)
    throw cause
  } finally {
    client.release(broken)
  }
}

/** Null for a standby. An old primary that came back says that it is none: see its timeline. */
const WHO_ARE_YOU = `select case when pg_is_in_recovery() then null
  else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end as timeline`

/** Dials the last good host; a failed dial makes the next client try the next one. */
function clientOver(hosts: readonly string[]): typeof pg.Client {
  let at = 0
  let newest_timeline = ''
  return class extends pg.Client {
    constructor(settings: pg.ClientConfig) {
      super({ ...settings, connectionString: hosts[at % hosts.length] ?? '' })
      const dialled_at = at
      const connect = this.connect.bind(this) as (done: (cause: Error | null) => void) => void
      const turn = (done: (cause: Error | null) => void) =>
        connect((cause) => {
          if (cause) return advance(done, cause)
          if (hosts.length === 1) return done(null)
          this.query(WHO_ARE_YOU).then(
            ({ rows }) => {
              const { timeline } = rows[0] as { timeline: string | null }
              if (timeline === null)
                return advance(done, new DatabaseUnavailable('that host is a standby'))
              if (timeline < newest_timeline)
                return advance(done, new DatabaseUnavailable('that host is an old primary'))
              newest_timeline = timeline
              done(null)
            },
            (failed: Error) => advance(done, failed),
          )
        })
      const advance = (done: (cause: Error | null) => void, cause: Error) => {
        // Several may have dialled this host at the same time: together they move on once.
        if (at === dialled_at) at += 1
        this.end().catch(() => undefined)
        done(cause)
      }
      this.connect = turn as typeof this.connect
    }
  }
}

/** Deadlocks and serialization failures left nothing behind, so the whole work is done again. */
async function retried<Value>(work: () => Promise<Value>): Promise<Value> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (cause) {
      if (!isRetryable(cause)) throw cause
      if (attempt >= RETRIES_MAX) throw new DatabaseUnavailable('too much contention', { cause })
    }
  }
}

async function guarded<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof DatabaseUnavailable) throw cause
    if (isUnavailable(cause)) throw new DatabaseUnavailable('no database answer', { cause })
    throw faultOf(cause)
  }
}
