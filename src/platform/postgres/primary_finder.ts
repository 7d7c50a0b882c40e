import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { asError, DatabaseUnavailable, isUnavailable } from './database_faults.ts'
import { watchReadOnly } from './read_only.ts'
import { socketOf } from './send_statement.ts'

/** Hosts are asked again for this long, because a failover may be about to end. */
const SEARCH_MS = 1_000
const PROBE_TIMEOUT_MS = 1_500
const RETRY_MS = 200

/** Null for a standby. An old primary that came back is found by its lower timeline. */
const SELECT_TIMELINE = `select case when pg_is_in_recovery() then null
  else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end as timeline`

type Search = { until_ms: number; found: AbortController }

/**
 * Finds the primary among the hosts of a URL. The first host that answers as a primary is used
 * until a connection to it fails; then all hosts are asked at the same time, because one that lost
 * its network would hold up the others.
 */
export class PrimaryFinder {
  #primary: number | null = null
  #newest_timeline = ''
  #search: Promise<void> | null = null
  readonly #timelines = new Map<pg.Client, string>()

  get isKnown(): boolean {
    return this.#primary !== null
  }

  /** The URL of the primary, or any if none is known. */
  urlIn(urls: readonly string[]): string {
    return urls[this.#primary ?? 0] ?? ''
  }

  /** Throws if no host is the primary within a few seconds. Callers share one search. */
  find(urls: readonly string[]): Promise<void> {
    this.#search ??= this.#findIn(urls).finally(() => {
      this.#search = null
    })
    return this.#search
  }

  /** Throws if the client's host is not the primary; the next caller then looks for it. */
  async admit(client: pg.Client, url: string, urls: readonly string[]): Promise<void> {
    const timeline = this.#accept(await readTimeline(client))
    this.#timelines.set(client, timeline)
    client.once('end', () => this.#timelines.delete(client))
    this.#primary = urls.indexOf(url)
  }

  /** A connection to this host failed. Others may have found another one in the meantime. */
  forget(url: string, urls: readonly string[]): void {
    if (this.#primary !== null && urls[this.#primary] === url) this.#primary = null
  }

  async #findIn(urls: readonly string[]): Promise<void> {
    const found = new AbortController()
    const until_ms = performance.now() + SEARCH_MS
    const poll = (url: string, at: number) => this.#pollHost(url, at, { until_ms, found })
    try {
      await Promise.any(urls.map(poll))
    } catch (cause) {
      const [first] = (cause as AggregateError).errors
      throw isUnavailable(first) || first instanceof DatabaseUnavailable
        ? new DatabaseUnavailable(`no host is the primary: ${asError(first).message}`, {
            cause: first,
          })
        : first
    } finally {
      found.abort()
    }
  }

  /** Asks one host again and again until it or another one is the primary. */
  async #pollHost(url: string, at: number, { until_ms, found }: Search): Promise<void> {
    for (;;) {
      try {
        this.#accept(await probe(url, found.signal))
        this.#primary = at
        return
      } catch (cause) {
        const isTemporary = cause instanceof DatabaseUnavailable || isUnavailable(cause)
        const isOver = found.signal.aborted || performance.now() > until_ms
        if (isOver || !isTemporary) throw cause
        await wait(RETRY_MS)
        if (found.signal.aborted) throw cause
      }
    }
  }

  /**
   * After a failover, connections to the old primary are closed: one that lost its network would
   * keep statements waiting until they time out.
   */
  #accept(timeline: string | null): string {
    if (timeline === null) throw new DatabaseUnavailable('that host is a standby')
    if (timeline < this.#newest_timeline)
      throw new DatabaseUnavailable('that host is an old primary')
    this.#newest_timeline = timeline
    for (const [client, since] of this.#timelines) {
      if (since < timeline) socketOf(client).destroy()
    }
    return timeline
  }
}

const finders = new Map<string, PrimaryFinder>()

/** Pools with the same hosts share a finder, so that all leave an old primary together. */
export function finderOf(urls: readonly string[]): PrimaryFinder {
  const key = urls.map((url) => /^\w+:\/\/(?:[^@/]*@)?([^/?]*)/.exec(url)?.[1] ?? url).join()
  const known = finders.get(key) ?? new PrimaryFinder()
  finders.set(key, known)
  return known
}

/** Connects to the primary; looks for it first if it is not known, and again after a failure. */
export async function connectToPrimary<Client>(
  urls: readonly string[],
  connect: () => Promise<Client>,
): Promise<Client> {
  if (urls.length === 1) return connect()
  const finder = finderOf(urls)
  if (finder.isKnown) {
    try {
      return await connect()
    } catch (cause) {
      // The pool was exhausted; the host itself did not fail.
      if (finder.isKnown) throw cause
    }
  }
  await finder.find(urls)
  return connect()
}

type Connected = (cause: Error | null) => void

/** Clients that connect to the primary among these URLs and refuse every other host. */
export function clientOf(urls: readonly string[]): typeof pg.Client {
  const finder = finderOf(urls)
  return class extends pg.Client {
    constructor(settings: pg.ClientConfig) {
      const url = finder.urlIn(urls)
      super({ ...settings, connectionString: url })
      // The pool listens only once connect() has ended; a reset before that would end the process.
      this.on('error', () => undefined)
      watchReadOnly(this)
      if (urls.length === 1) return
      const connect = this.connect.bind(this) as (done: Connected) => void
      const connectAndAdmit = (done: Connected) =>
        connect((cause) => {
          const admitted = cause ? Promise.reject(cause) : finder.admit(this, url, urls)
          admitted.then(
            () => done(null),
            (failed: Error) => {
              finder.forget(url, urls)
              this.end().catch(() => undefined)
              done(failed)
            },
          )
        })
      this.connect = connectAndAdmit as typeof this.connect
    }
  }
}

async function readTimeline(client: pg.Client): Promise<string | null> {
  const { rows } = await client.query<{ timeline: string | null }>({
    text: SELECT_TIMELINE,
    query_timeout: PROBE_TIMEOUT_MS,
  } as pg.QueryConfig)
  return rows[0]?.timeline ?? null
}

async function probe(url: string, ended: AbortSignal): Promise<string | null> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: PROBE_TIMEOUT_MS,
  })
  client.on('error', () => undefined)
  const destroy = () => void socketOf(client).destroy()
  ended.addEventListener('abort', destroy, { once: true })
  try {
    await client.connect()
    const timeline = await readTimeline(client)
    client.end().catch(() => undefined)
    return timeline
  } catch (cause) {
    destroy()
    throw cause
  } finally {
    ended.removeEventListener('abort', destroy)
  }
}
