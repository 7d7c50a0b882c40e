import type { Socket } from 'node:net'
import pg from 'pg'
import { assert } from '#kernel/assert.ts'
import { ChangedMeanwhile } from './changed_meanwhile.ts'
import { copyIn } from './copy_in.ts'
import { splitHosts } from './database_url.ts'
import type { Fail } from './failpoints.ts'
import { neverFail } from './failpoints.ts'
import type { Log } from './log.ts'
import { silentLog } from './log.ts'

/** What can be asked inside a transaction, or of the database as single statements. */
export type Tx = {
  rows<Row extends object>(sql: string, params?: readonly unknown[]): Promise<Row[]>
  /** How many rows the statement touched. */
  run(sql: string, params?: readonly unknown[]): Promise<number>
  /** Changes exactly so many rows; else fails with ChangedMeanwhile, and all of the work with it. */
  change(count: number, sql: string, params: readonly unknown[]): Promise<void>
  /** How many rows a COPY has added; its data in the form that it names. */
  copy(sql: string, data: Buffer): Promise<number>
}

/**
 * Sends the commit behind what was asked so far, without waiting for the answers: where one of
 * these statements fails, the server undoes all of them. Nothing may be asked after it.
 */
export type CommitBehind = () => void

export type Database = Tx & {
  transaction<Value>(work: (tx: Tx, commitBehind: CommitBehind) => Promise<Value>): Promise<Value>
  /** Runs work on one connection outside a transaction; for migrations and locks of a session. */
  connection<Value>(work: (client: pg.ClientBase) => Promise<Value>): Promise<Value>
  listen(channel: string, hear: (payload: string) => void): Promise<() => Promise<void>>
  close(): Promise<void>
}

/** The database cannot be reached, or it is not known whether a commit took effect. */
export class DatabaseUnavailable extends Error {}

// bigint columns are money and counters: they come as bigint, never as a rounded number.
pg.types.setTypeParser(pg.types.builtins.INT8, (text) => BigInt(text))

const CONNECT_TIMEOUT_MS = 3_000
const STATEMENT_TIMEOUT_MS = 10_000
/** Longer than the server's own limit: it is for a server that cannot be heard any more. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 2_000
const COMMIT_TIMEOUT_MS = 5_000
const RETRIES_MAX = 3

type Options = {
  pool_size?: number
  /** The server's own limits on what this pool asks. */
  limits?: { statement_ms: number; lock_ms: number; idle_in_transaction_ms: number }
  /** For statements that only look rows up by their keys, over and over. */
  key_lookups?: boolean
  log?: Log
  fail?: Fail
}

const STANDARD_LIMITS = {
  statement_ms: STATEMENT_TIMEOUT_MS,
  lock_ms: STATEMENT_TIMEOUT_MS / 2,
  idle_in_transaction_ms: STATEMENT_TIMEOUT_MS * 3,
}

export function openDatabase(url: string, options: Options = {}): Database {
  const hosts = splitHosts(url)
  const log = options.log ?? silentLog
  const fail = options.fail ?? neverFail
  const pool = new pg.Pool({
    ...poolSettings(hosts[0] ?? url, options),
    Client: clientOver(hosts),
  })
  // A server that goes away ends idle clients; without a listener that would end the process.
  pool.on('error', (cause) => log.error('a database connection was lost', {}, cause))
  pool.on('connect', (client) => client.on('error', () => undefined))
  const checkout = () => guarded(() => dial(pool, hosts.length))
  const single = (sql: string, params: readonly unknown[]) =>
    guarded(async () => {
      const query = named(sql, params)
      return onOneClient(await checkout(), (client) => client.query(query))
    })
  return {
    rows: async (sql, params = []) => (await single(sql, params)).rows,
    run: async (sql, params = []) => (await single(sql, params)).rowCount ?? 0,
    change: async (count, sql, params) =>
      void (await single(exactly(sql, params.length), [...params, count])),
    copy: (sql, data) =>
      guarded(async () => onOneClient(await checkout(), (client) => copied(client, sql, data))),
    transaction: (work) => retried(async () => inTransaction(await checkout(), work, fail)),
    connection: async (work) => {
      const client = await checkout()
      try {
        return await work(client)
      } finally {
        client.release()
      }
    },
    listen: (channel, hear) => listen(hosts, { channel, hear, log }),
    close: () => pool.end(),
  }
}

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
].join(' ')

function poolSettings(
  url: string,
  { pool_size = 16, limits = STANDARD_LIMITS, key_lookups = false }: Options,
): pg.PoolConfig {
  return {
    connectionString: url,
    max: pool_size,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: limits.statement_ms,
    lock_timeout: limits.lock_ms,
    idle_in_transaction_session_timeout: limits.idle_in_transaction_ms,
    keepAlive: true,
    ...(key_lookups && { options: KEY_LOOKUPS }),
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

const copied = (client: pg.ClientBase, sql: string, data: Buffer) =>
  copyIn(client, sql, data, ANSWER_TIMEOUT_MS)

async function onOneClient<Value>(
  client: pg.PoolClient,
  ask: (client: pg.ClientBase) => Promise<Value>,
): Promise<Value> {
  let broken: Error | undefined
  try {
    return await ask(client)
  } catch (cause) {
    if (isUseless(cause)) broken = hangUp(client, cause)
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
        at += 1
        this.end().catch(() => undefined)
        done(cause)
      }
      this.connect = turn as typeof this.connect
    }
  }
}

type Named = pg.QueryConfig & { query_timeout: number }

const names = new Map<string, string>()

/** Statements are prepared under a name: planning them anew costs a third of the throughput. */
function named(sql: string, params: readonly unknown[]): Named {
  let name = names.get(sql)
  if (name === undefined) {
    name = `s${names.size}`
    names.set(sql, name)
  }
  return { name, text: sql, values: params as unknown[], query_timeout: ANSWER_TIMEOUT_MS }
}

const exact_texts = new Map<string, string>()

/** The statement, failing where it does not touch as many rows as its last parameter says. */
function exactly(sql: string, param_count: number): string {
  let text = exact_texts.get(sql)
  if (text === undefined) {
    text = `with changed as (${sql} returning 1)
      select require_count(count(*), $${param_count + 1}) from changed`
    exact_texts.set(sql, text)
  }
  return text
}

const NOT_AS_MANY = 'FL001'

const faultOf = (cause: unknown): unknown =>
  codeOf(cause) === NOT_AS_MANY
    ? new ChangedMeanwhile('what was read has changed meanwhile', { cause })
    : cause

async function inTransaction<Value>(
  client: pg.PoolClient,
  work: (tx: Tx, commitBehind: CommitBehind) => Promise<Value>,
  fail: Fail,
): Promise<Value> {
  let committed: Promise<void> | undefined
  const beginAsking = () => {
    assert(committed === undefined, 'nothing is asked behind a commit')
    gather(client)
  }
  // What failed first is what failed: the statements sent behind it are only refused for it.
  let fault: unknown
  const heard = <Answer>(asked: Promise<Answer>): Promise<Answer> =>
    asked.catch((cause: unknown) => {
      fault ??= faultOf(cause)
      throw fault
    })
  const ask = (sql: string, params: readonly unknown[]) => {
    beginAsking()
    return heard(client.query(named(sql, params)))
  }
  const tx: Tx = {
    rows: async (sql, params = []) => (await ask(sql, params)).rows,
    run: async (sql, params = []) => (await ask(sql, params)).rowCount ?? 0,
    change: async (count, sql, params) =>
      void (await ask(exactly(sql, params.length), [...params, count])),
    copy: (sql, data) => {
      beginAsking()
      return heard(copied(client, sql, data))
    },
  }
  const commitBehind = () => {
    beginAsking()
    fail('before_commit')
    committed = commit(client)
    committed.catch(() => undefined)
  }
  let broken: Error | undefined
  try {
    fail('before_begin')
    gather(client)
    // Not awaited: it travels with the first statement, and fails that one if it fails.
    const begun = client.query('begin')
    begun.catch(() => undefined)
    const value = await work(tx, commitBehind)
    await begun
    if (committed === undefined) commitBehind()
    await committed
    fail('after_commit')
    return value
  } catch (cause) {
    // Closing the socket ends the transaction too, where a rollback would not be heard.
    if (cause instanceof DatabaseUnavailable || isUseless(cause)) broken = hangUp(client, cause)
    else broken = await client.query('rollback').then(() => undefined, asError)
    if (broken === undefined && !isUnavailable(cause)) throw cause
    throw cause instanceof DatabaseUnavailable
      ? cause
      : new DatabaseUnavailable('the database gave no answer', { cause })
  } finally {
    client.release(broken)
  }
}

/**
 * Confirmed, or not a success. A warning during COMMIT means that the wait for a standby was cut
 * short, and an answer that never comes is no answer: in both cases the outcome is unknown.
 */
async function commit(client: pg.PoolClient): Promise<void> {
  let warning: string | undefined
  const hear = (notice: { message: string | undefined }) => {
    warning = notice.message ?? 'a warning'
  }
  client.on('notice', hear)
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new DatabaseUnavailable('commit was not confirmed in time')),
      COMMIT_TIMEOUT_MS,
    )
  })
  try {
    const { command } = await Promise.race([client.query('commit'), deadline])
    // The server answers COMMIT with ROLLBACK where a statement had failed, and calls it success.
    if (command !== 'COMMIT') throw new Error('a statement had failed, so nothing was committed')
  } finally {
    clearTimeout(timer)
    client.off('notice', hear)
  }
  if (warning !== undefined) throw new DatabaseUnavailable(`commit is uncertain: ${warning}`)
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
    throw cause
  }
}

const asError = (cause: unknown): Error =>
  cause instanceof Error ? cause : new Error(String(cause))

const codeOf = (cause: unknown) => (cause as { code?: unknown } | null)?.code

function isRetryable(cause: unknown): boolean {
  return codeOf(cause) === '40P01' || codeOf(cause) === '40001'
}

/** The host has become a standby, or it does not answer: this connection is of no more use. */
function isUseless(cause: unknown): boolean {
  return codeOf(cause) === '25006' || (cause as Error | null)?.message === 'Query read timeout'
}

/** At once and without a goodbye: what is still under way on this connection may never end. */
function hangUp(client: pg.ClientBase, cause: unknown): Error {
  wireOf(client).destroy()
  return asError(cause)
}

const wireOf = (client: pg.ClientBase): Socket =>
  (client as unknown as { connection: { stream: Socket } }).connection.stream

/** Statements of one turn leave in one write: each write by itself would wake the server. */
function gather(client: pg.ClientBase): void {
  const wire = wireOf(client)
  if (wire.writableCorked > 0) return
  wire.cork()
  process.nextTick(() => wire.uncork())
}

const SOCKET_CODES = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
]

/**
 * Server codes: 08 connection, 57P shutting down, 53 out of resources, 25006 a read-only standby,
 * 57014 and 55P03 a statement or a lock that took too long.
 */
function isUnavailable(cause: unknown): boolean {
  const code = codeOf(cause)
  if (typeof code === 'string') {
    return /^(08|57P|53|25006|57014|55P03)/.test(code) || SOCKET_CODES.includes(code)
  }
  return (
    cause instanceof Error && /terminated|timeout|not queryable|Connection/i.test(cause.message)
  )
}

type Listening = { channel: string; hear: (payload: string) => void; log: Log }

const RECONNECT_MS = 250

/** Notices are hints, never the truth: while the connection is away the hearer does without. */
async function listen(
  hosts: readonly string[],
  listening: Listening,
): Promise<() => Promise<void>> {
  let client: pg.Client | undefined
  let closed = false
  let dials = 0
  const connect = async (): Promise<void> => {
    if (closed) return
    const connectionString = hosts[dials % hosts.length] ?? ''
    const next = new pg.Client({ connectionString, keepAlive: true })
    dials += 1
    next.on('error', () => undefined)
    next.on('end', () => void setTimeout(() => void connect().catch(() => undefined), RECONNECT_MS))
    next.on('notification', ({ payload }) => listening.hear(payload ?? ''))
    client = next
    await next.connect()
    await next.query(`listen ${listening.channel}`)
    // What was said while the connection was away is lost: whoever hears must look again.
    if (dials > 1) listening.hear('')
  }
  await connect().catch((cause) => {
    listening.log.error('cannot listen to the database', { channel: listening.channel }, cause)
  })
  return async () => {
    closed = true
    await client?.end().catch(() => undefined)
  }
}
