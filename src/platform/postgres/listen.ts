import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import type { Log } from '#platform/runtime/log.ts'
import { socketOf } from './send_statement.ts'

type OnNotify = (payload: string) => void

const RECONNECT_MS = 250
const HEARTBEAT_MS = 3_000
const RESPONSE_TIMEOUT_MS = 3_000

/**
 * The subscriptions of one database share a connection, which stays open until the last of them is
 * stopped. It is opened again when it is lost, the server stops responding or the host becomes a
 * standby. Notifications are only hints: after a reconnect every subscriber gets an empty one,
 * because earlier ones may have been lost.
 */
export class Listener {
  readonly #connect: () => Promise<pg.Client>
  readonly #log: Log
  readonly #subscribers = new Map<string, Set<OnNotify>>()
  #client: pg.Client | undefined
  #stopped = new AbortController()
  #loop: Promise<void> | null = null
  #opening: Promise<boolean> | null = null
  #is_failing = false

  constructor(connect: () => Promise<pg.Client>, log: Log) {
    this.#connect = connect
    this.#log = log
  }

  /** Resolves once subscribed, or once the first attempt has failed; more follow. */
  async listen(channel: string, onNotify: OnNotify): Promise<() => Promise<void>> {
    const channel_subscribers = this.#subscribers.get(channel) ?? new Set()
    channel_subscribers.add(onNotify)
    this.#subscribers.set(channel, channel_subscribers)
    await this.#begin()
    return async () => {
      if (!channel_subscribers.delete(onNotify)) return
      if (channel_subscribers.size === 0) this.#subscribers.delete(channel)
      if (this.#subscribers.size === 0) await this.#end()
    }
  }

  async #begin(): Promise<void> {
    if (this.#stopped.signal.aborted) await this.#loop
    const client = this.#client
    if (client !== undefined) {
      return void (await query(client, this.#statement()).catch(() => socketOf(client).destroy()))
    }
    // The next connection subscribes to this channel too.
    if (this.#loop !== null) return void (await this.#opening)
    this.#stopped = new AbortController()
    const opened = this.#open()
    this.#loop = this.#keepOpen(opened)
    await opened
  }

  async #end(): Promise<void> {
    this.#stopped.abort()
    await this.#loop
  }

  /** Repeated by the heartbeat; pg_stat_activity shows it, and with it the session's purpose. */
  #statement(): string {
    return [...this.#subscribers.keys()].map((channel) => `listen ${channel}`).join('; ')
  }

  #open(): Promise<boolean> {
    this.#opening = this.#connectAndListen().finally(() => {
      this.#opening = null
    })
    return this.#opening
  }

  async #connectAndListen(): Promise<boolean> {
    let client: pg.Client | undefined
    try {
      client = await this.#connect()
      client.on('notification', ({ channel, payload }) => this.#notify(channel, payload ?? ''))
      // Channels may be added while it connects.
      for (let sent = ''; sent !== this.#statement(); ) {
        sent = this.#statement()
        await query(client, sent)
      }
      this.#client = client
      this.#is_failing = false
      return true
    } catch (cause) {
      if (client !== undefined) socketOf(client).destroy()
      const channels = [...this.#subscribers.keys()].join(', ')
      const message = 'cannot listen to the database; retrying'
      if (!this.#is_failing) this.#log.error(message, { channels }, cause)
      this.#is_failing = true
      return false
    }
  }

  async #keepOpen(opened: Promise<boolean>): Promise<void> {
    const { signal } = this.#stopped
    await opened
    while (!signal.aborted) {
      if (this.#client !== undefined) await this.#waitForEnd(this.#client, signal)
      this.#client = undefined
      await wait(RECONNECT_MS, undefined, { signal }).catch(() => undefined)
      if (signal.aborted || !(await this.#open())) continue
      for (const channel of this.#subscribers.keys()) this.#notify(channel, '')
    }
    if (this.#client !== undefined) socketOf(this.#client).destroy()
    this.#client = undefined
    this.#loop = null
  }

  #notify(channel: string, payload: string): void {
    for (const onNotify of this.#subscribers.get(channel) ?? []) {
      try {
        onNotify(payload)
      } catch (cause) {
        // The other subscribers and the connection must not depend on it.
        this.#log.error('a subscriber failed', { channel }, cause)
      }
    }
  }

  /** Resolves when the connection ends, stops responding or is stopped. */
  async #waitForEnd(client: pg.Client, stopped: AbortSignal): Promise<void> {
    const destroyConnection = () => void socketOf(client).destroy()
    const heartbeat = setInterval(
      () => void query(client, this.#statement()).catch(destroyConnection),
      HEARTBEAT_MS,
    )
    stopped.addEventListener('abort', destroyConnection, { once: true })
    if (stopped.aborted) destroyConnection()
    await new Promise<void>((resolve) => client.once('end', () => resolve()))
    clearInterval(heartbeat)
    stopped.removeEventListener('abort', destroyConnection)
  }
}

const query = (client: pg.Client, text: string) =>
  client.query({ text, query_timeout: RESPONSE_TIMEOUT_MS } as pg.QueryConfig)
