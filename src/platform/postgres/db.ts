import pg from 'pg'
import { type ConnectionPool, openPool, type PoolOptions } from './connection_pool.ts'
import { DatabaseAddress } from './database_address.ts'
import {
  DatabaseUnavailable,
  isConnectionDead,
  isRetryable,
  translateFaults,
} from './database_faults.ts'
import { Listener } from './listen.ts'
import { channelIn } from './notify.ts'
import type { StatementResult } from './pipeline.ts'
import { ACCOUNT_ROLE } from './roles.ts'
import { sendStatement } from './send_statement.ts'
import { prepared } from './statement.ts'
import { destroyConnection, runTransaction } from './transaction.ts'
import { type CommitWith, makeTx, sendCopied, sendInserted, type Tx } from './tx.ts'

export type { DatabaseLimits, DatabaseRole } from './connection_pool.ts'
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

const RETRIES_MAX = 3

/** The database of a URL, or of an address that changes when the database is moved. */
export function openDatabase(at: string | DatabaseAddress, options: PoolOptions = {}): Database {
  const pool = poolAt(at, options, ({ url }) => url)
  const { checkout, connectOutsidePool, close, schema, log, fail } = pool
  const listener = new Listener(connectOutsidePool, log)
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
    listen: (channel, onNotify) => listener.listen(channelIn(schema, channel), onNotify),
    close,
  }
}

/**
 * Every statement is sent together with one that sets its account, in the same write. Row-level
 * security then limits it to that account's rows.
 */
export function openAccountPool(
  at: string | DatabaseAddress,
  options: Omit<PoolOptions, 'role'> = {},
): AccountPool {
  const role = { name: ACCOUNT_ROLE, can_copy: false }
  const with_role = { ...options, role, of_accounts: true }
  const pool = poolAt(at, with_role, ({ url, account_url }) => account_url ?? url)
  const { checkout, close, fail } = pool
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

function poolAt(
  at: string | DatabaseAddress,
  options: PoolOptions,
  choose: (urls: DatabaseAddress['urls']) => string,
): ConnectionPool {
  return at instanceof DatabaseAddress
    ? openPool(() => choose(at.urls), options, at)
    : openPool(() => at, options)
}

const SET_ACCOUNT_LOCALLY = `select set_config('florin.account_id', $1, true)`
const SET_ACCOUNT = `select set_config('florin.account_id', $1, false)`

/** Fails if setting the account fails, so a result of another account is never returned. */
async function executeFor(
  client: pg.PoolClient,
  account_id: string,
  statement: pg.QueryConfig,
): Promise<StatementResult> {
  const account_set = sendStatement(client, prepared(SET_ACCOUNT, [account_id])).catch((cause) => {
    throw destroyConnection(client, cause)
  })
  const [result] = await Promise.all([executeOnce(client, statement), account_set])
  return result
}

async function executeOnce(
  client: pg.PoolClient,
  statement: pg.QueryConfig,
  data?: Buffer,
): Promise<StatementResult> {
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
