import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { type CellHost, readCellHost } from './cell_host.ts'
import { asError, DatabaseUnavailable, isUnavailable } from './database_faults.ts'
import { watchReadOnly } from './read_only.ts'
import { socketOf } from './send_statement.ts'

/** Hosts are asked again for this long, because a failover may be about to end. */
const SEARCH_MS = 1_000
const PROBE_TIMEOUT_MS = 1_500
const RETRY_MS = 200

type Search = { until_ms: number; found: AbortController }

/**
 * Finds the primary among the hosts of a URL; on Citus, the one that has the schema. The first host
 * that responds as such is used until a connection to it fails; then all hosts are asked at the
 * same time, because one that lost its network would hold up the others.
 */
class PrimaryFinder {
  #primary: number | null = null
  #search: Promise<void> | null = null
  /** By cluster. */
  readonly #newest_timelines = new Map<string, string>()
  readonly #hosts = new Map<pg.Client, CellHost>()
  readonly #schema: string | null

  constructor(schema: string | null) {
    this.#schema = schema
  }

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
    const host = this.#accept(await this.#readHost(client))
    this.#hosts.set(client, host)
    client.once('end', () => this.#hosts.delete(client))
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
        this.#accept(await probe(url, found.signal, (client) => this.#readHost(client)))
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

  #readHost(client: pg.Client): Promise<CellHost> {
    return readCellHost(client, { schema: this.#schema, timeout_ms: PROBE_TIMEOUT_MS })
  }

  /**
   * After a failover, connections to the old primary are closed: one that lost its network would
   * keep statements waiting until they time out. After Citus has moved the schema, notifications
   * and locks are on its new worker.
   */
  #accept(host: CellHost): CellHost {
    const { timeline, cluster } = host
    if (timeline < (this.#newest_timelines.get(cluster) ?? ''))
      throw new DatabaseUnavailable('that host is an old primary')
    this.#newest_timelines.set(cluster, timeline)
    for (const [client, known] of this.#hosts) {
      if (known.timeline < timeline || known.cluster !== cluster) socketOf(client).destroy()
    }
    return host
  }
}

const finders = new Map<string, PrimaryFinder>()

/** Pools with the same hosts and schema share a finder, so that all leave a host together. */
function finderOf(urls: readonly string[], schema: string | null): PrimaryFinder {
  const hosts = urls.map((url) => /^\w+:\/\/(?:[^@/]*@)?([^/?]*)/.exec(url)?.[1] ?? url)
  const key = [...hosts, schema].join()
  const known = finders.get(key) ?? new PrimaryFinder(schema)
  finders.set(key, known)
  return known
}

/** Connects to the primary; looks for it first if it is not known, and again after a failure. */
export async function connectToPrimary<Client>(
  urls: readonly string[],
  schema: string | null,
  connect: () => Promise<Client>,
): Promise<Client> {
  if (urls.length === 1) return connect()
  const finder = finderOf(urls, schema)
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

type ConnectCallback = (cause: Error | null) => void

/** Clients that connect to the primary among these URLs and refuse every other host. */
export function clientOf(urls: readonly string[], schema: string | null): typeof pg.Client {
  const finder = finderOf(urls, schema)
  return class extends pg.Client {
    constructor(settings: pg.ClientConfig) {
      const url = finder.urlIn(urls)
      super({ ...settings, connectionString: url })
      // The pool listens only once connect() has ended; a reset before that would end the process.
      this.on('error', () => undefined)
      watchReadOnly(this)
      if (urls.length === 1) return
      const connect = this.connect.bind(this) as (done: ConnectCallback) => void
      const connectAndAdmit = (done: ConnectCallback) =>
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

async function probe(
  url: string,
  ended: AbortSignal,
  readHost: (client: pg.Client) => Promise<CellHost>,
): Promise<CellHost> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: PROBE_TIMEOUT_MS,
  })
  client.on('error', () => undefined)
  const destroy = () => void socketOf(client).destroy()
  ended.addEventListener('abort', destroy, { once: true })
  try {
    await client.connect()
    const host = await readHost(client)
    client.end().catch(() => undefined)
    return host
  } catch (cause) {
    destroy()
    throw cause
  } finally {
    ended.removeEventListener('abort', destroy)
  }
}
