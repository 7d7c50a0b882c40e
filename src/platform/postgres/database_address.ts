import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import { DatabaseUnavailable } from './database_faults.ts'
import { askSchema, isReadOnly, mustAskSchema } from './read_only.ts'
import { schemaOf } from './schema.ts'

export type DatabaseUrls = {
  url: string
  /** A separate login for calls of account holders; null: the one of url. */
  account_url: string | null
}

/** Asks the database itself; resolves with null if it is still where it was. */
export type FindMove = (urls: DatabaseUrls) => Promise<DatabaseUrls | null>

/**
 * The address of a database. It changes while the service runs if the database is moved to another
 * server. All pools of a cell share one address, so they change servers together.
 */
export class DatabaseAddress {
  #urls: DatabaseUrls
  /** Null for the default one. A move keeps it. */
  readonly schema: string | null
  #search: Promise<boolean> | null = null
  #closed: Promise<boolean> | null = null
  readonly #findMove: FindMove

  constructor(urls: DatabaseUrls, findMove: FindMove) {
    this.#urls = urls
    this.schema = schemaOf(urls.url)
    this.#findMove = findMove
  }

  get urls(): DatabaseUrls {
    return this.#urls
  }

  /**
   * True while nobody may use the database: during a search, because it may be elsewhere soon, and
   * while it is closed.
   */
  get isUncertain(): boolean {
    return this.#search !== null || this.#closed !== null
  }

  /** The database is in use again when the work is done, which needs a connection of its own. */
  closeUntil(done: Promise<void>): void {
    const closed = done
      .then(() => false)
      .finally(() => {
        if (this.#closed === closed) this.#closed = null
      })
    this.#closed = closed
  }

  /** Resolves with true if the database has another address now. Callers share one search. */
  find(): Promise<boolean> {
    if (this.#closed !== null) return this.#closed
    this.#search ??= this.#ask().finally(() => {
      this.#search = null
    })
    return this.#search
  }

  /** Looks for a move that nobody announced. The database stays in use during the search. */
  async look(): Promise<void> {
    await this.#ask()
  }

  async #ask(): Promise<boolean> {
    const moved = await this.#findMove(this.#urls)
    if (moved !== null) this.#urls = moved
    return moved !== null
  }
}

type ConnectOptions<Client> = {
  connect(): Promise<Client>
  release(client: Client, options: { is_stale: boolean }): void
  wait_ms: number
}

/**
 * Connects to the server that the database is on. The old server's copy is read-only after a move:
 * the server reports that with every new connection, and a schema says so if asked. Then the
 * address is looked for.
 */
export async function connectToMoved<Client extends pg.ClientBase>(
  address: DatabaseAddress,
  { connect, release, wait_ms }: ConnectOptions<Client>,
): Promise<Client> {
  const until_ms = performance.now() + wait_ms
  for (;;) {
    if (address.isUncertain) await findInTime(address, until_ms)
    const { urls } = address
    const client = await connect()
    if (mustAskSchema(client, address.schema)) await askOrRelease(client, release)
    const is_stale = address.urls !== urls
    if (!is_stale && !address.isUncertain) {
      if (!isReadOnly(client) || !(await hasMoved(address, until_ms))) return client
    }
    release(client, { is_stale: is_stale || isReadOnly(client) })
  }
}

async function askOrRelease<Client extends pg.ClientBase>(
  client: Client,
  release: ConnectOptions<Client>['release'],
): Promise<void> {
  try {
    await askSchema(client)
  } catch (cause) {
    release(client, { is_stale: true })
    throw cause
  }
}

/** If the search takes too long, the caller's next step waits for it and gives up. */
async function hasMoved(address: DatabaseAddress, until_ms: number): Promise<boolean> {
  const { urls } = address
  await findInTime(address, until_ms).catch(() => undefined)
  return address.isUncertain || address.urls !== urls
}

async function findInTime(address: DatabaseAddress, until_ms: number): Promise<boolean> {
  const over = new AbortController()
  const late = wait(Math.max(0, until_ms - performance.now()), undefined, { signal: over.signal })
  const expired = late.then(() => {
    throw new DatabaseUnavailable('the database is closed, or being moved to another server')
  })
  // It also rejects if the search ends first and aborts the timer.
  expired.catch(() => undefined)
  try {
    return await Promise.race([address.find(), expired])
  } finally {
    over.abort()
  }
}
