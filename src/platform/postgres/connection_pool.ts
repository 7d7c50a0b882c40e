import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import type { Fail } from '#platform/runtime/failpoints.ts'
import { neverFail } from '#platform/runtime/failpoints.ts'
import type { Log } from '#platform/runtime/log.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { poolCloser } from './close_pool.ts'
import { applicationName } from './connected_nodes.ts'
import { connectToMoved, type DatabaseAddress } from './database_address.ts'
import { translateFaults } from './database_faults.ts'
import { splitHosts } from './database_url.ts'
import { clientOf, connectToPrimary } from './primary_finder.ts'
import { schemaOf, settingsOfUrl } from './schema.ts'
import { STATEMENT_TIMEOUT_MS } from './send_statement.ts'

const CONNECT_TIMEOUT_MS = 3_000
/** A new connection (SCRAM, a server process, its caches) costs more than hours of idling. */
const POOL_IDLE_MS = 5 * 60_000

/** Timeouts that the server enforces. */
export type DatabaseLimits = {
  statement_ms: number
  lock_ms: number
  idle_in_transaction_ms: number
}

/** The role that connections act as. Row-level security may forbid it to COPY. */
export type DatabaseRole = { name: string; can_copy: boolean }

export type PoolOptions = {
  /** Without it, connections act as the login. */
  role?: DatabaseRole
  pool_size?: number
  limits?: DatabaseLimits
  /** During a move to another server, a connection is waited for this long. */
  move_wait_ms?: number
  /** For pools whose statements only look rows up by key. */
  key_lookups?: boolean
  /** For pools whose statements name an account, and whose lists follow an index. */
  of_accounts?: boolean
  /** Called after every committed transaction, but not after single statements. */
  onCommit?: () => void
  log?: Log
  fail?: Fail
}

const LEAVE_STEP_MS = 20
/** A call that waits longer should fail and be retried. */
const MOVE_WAIT_MS = 100

const DEFAULT_LIMITS = {
  statement_ms: STATEMENT_TIMEOUT_MS,
  lock_ms: STATEMENT_TIMEOUT_MS / 2,
  idle_in_transaction_ms: STATEMENT_TIMEOUT_MS,
}

/** Connections to one server or one set of hosts. */
type Connections = {
  url: string
  connect(): Promise<pg.PoolClient>
  connectOutsidePool(): Promise<pg.Client>
  close(): Promise<void>
  /** Closes them when the callers that wait for one have got it. */
  leave(): Promise<void>
}

export type ConnectionPool = ReturnType<typeof openPool>

/** The pool of a login. If the database is moved, the next connection is to its new server. */
export function openPool(urlNow: () => string, options: PoolOptions, address?: DatabaseAddress) {
  const log = options.log ?? silentLog
  const wait_ms = options.move_wait_ms ?? MOVE_WAIT_MS
  let used = openConnections(urlNow(), options, log)
  const left = new Set<Promise<void>>()
  const connections = (): Connections => {
    const url = urlNow()
    if (url === used.url) return used
    const closed: Promise<void> = used.leave().finally(() => left.delete(closed))
    left.add(closed)
    used = openConnections(url, options, log)
    return used
  }
  const connectWith = <Client extends pg.ClientBase>(
    connect: () => Promise<Client>,
    release: (client: Client, options: { is_stale: boolean }) => void,
  ): Promise<Client> =>
    address === undefined ? connect() : connectToMoved(address, { connect, release, wait_ms })
  return {
    checkout: () =>
      translateFaults(() =>
        connectWith(
          () => connections().connect(),
          (client, { is_stale }) => client.release(is_stale),
        ),
      ),
    connectOutsidePool: () =>
      connectWith(
        () => connections().connectOutsidePool(),
        (client) => void client.end().catch(() => undefined),
      ),
    close: async () => {
      await used.close()
      await Promise.all(left)
    },
    /** Null for the default one. A move keeps it. */
    schema: schemaOf(used.url),
    log,
    fail: options.fail ?? neverFail,
  }
}

function openConnections(url: string, options: PoolOptions, log: Log): Connections {
  const hosts = splitHosts(url)
  const schema = schemaOf(url)
  const Client = clientOf(hosts, schema)
  const settings = { ...poolSettings(url, options), Client }
  const pool = new pg.Pool(settings)
  // Without this listener, a lost idle connection would end the process.
  pool.on('error', (cause) => log.error('a database connection was lost', {}, cause))
  pool.on('connect', (client) => client.on('error', () => undefined))
  const close = poolCloser(pool)
  return {
    url,
    connect: () => connectToPrimary(hosts, schema, () => pool.connect()),
    connectOutsidePool: () =>
      connectToPrimary(hosts, schema, () => connectOutsidePool(Client, url, options)),
    close,
    leave: async () => {
      // A pool that is closed would let them wait until they time out.
      while (pool.waitingCount > 0) await wait(LEAVE_STEP_MS)
      await close()
    },
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

/**
 * Statements of calls are planned once per connection. Planning get_card for every call took eight
 * times as long as running it, and whether PostgreSQL keeps a plan by itself depends on the size of
 * the tables (`npm run bench -- mixed`). A kept plan is for an average account: it would read and
 * sort all rows of one that has many, or scan a table that was small. With a penalty on both, a
 * page is read from the index, in its order.
 */
const OF_ACCOUNTS = [
  '-c plan_cache_mode=force_generic_plan',
  '-c enable_sort=off',
  '-c enable_seqscan=off',
  '-c jit=off',
]

/** The role is a connection option: it costs no round trip, and RESET ROLE keeps it. */
function serverSettings(url: string, options: PoolOptions): string {
  const { role, key_lookups = false, of_accounts = false } = options
  return [
    ...settingsOfUrl(url),
    ...SERVER_SETTINGS,
    ...(role === undefined ? [] : [`-c role=${role.name}`]),
    ...(key_lookups ? KEY_LOOKUPS : []),
    ...(of_accounts ? OF_ACCOUNTS : []),
  ].join(' ')
}

function poolSettings(url: string, options: PoolOptions): pg.PoolConfig {
  const { pool_size = 16, limits = DEFAULT_LIMITS } = options
  return {
    application_name: applicationName(schemaOf(url)),
    max: pool_size,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: POOL_IDLE_MS,
    statement_timeout: limits.statement_ms,
    lock_timeout: limits.lock_ms,
    idle_in_transaction_session_timeout: limits.idle_in_transaction_ms,
    ...TCP_KEEPALIVE,
    options: serverSettings(url, options),
    // Statements are sent without waiting for earlier results.
    pipeline: true,
  } as pg.PoolConfig
}

/** A connection outside the pool, to the current host. */
async function connectOutsidePool(
  Client: typeof pg.Client,
  url: string,
  { role }: PoolOptions,
): Promise<pg.Client> {
  const client = new Client({
    ...TCP_KEEPALIVE,
    application_name: applicationName(schemaOf(url)),
    options: serverSettings(url, role === undefined ? {} : { role }),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  client.on('error', () => undefined)
  await new Promise<void>((resolve, reject) => {
    client.connect((cause: Error | null) => (cause === null ? resolve() : reject(cause)))
  })
  return client
}
