import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import type { Log } from '#platform/runtime/log.ts'
import { socketOf } from './send_statement.ts'

type Subscription = { channel: string; onNotify: (payload: string) => void; log: Log }

const RECONNECT_MS = 250
const HEARTBEAT_MS = 3_000
const RESPONSE_TIMEOUT_MS = 3_000

/**
 * Stays subscribed to a channel until stopped. It reconnects after a lost connection, a silent
 * server and a host that became a standby. Notifications are only hints: after a reconnect the
 * subscriber gets an empty one, because some may have been lost.
 */
export async function listen(
  connect: () => Promise<pg.Client>,
  { channel, onNotify, log }: Subscription,
): Promise<() => Promise<void>> {
  const stopped = new AbortController()
  const subscription = `listen ${channel}`
  let client: pg.Client | undefined
  let isFirst = true
  let isFailing = false

  const subscribe = async (): Promise<void> => {
    try {
      client = await connect()
      client.on('notification', ({ payload }) => onNotify(payload ?? ''))
      await query(client, subscription)
      if (!isFirst) onNotify('')
      isFailing = false
    } catch (cause) {
      if (client !== undefined) socketOf(client).destroy()
      client = undefined
      if (!isFailing) log.error('cannot listen to the database; retrying', { channel }, cause)
      isFailing = true
    }
    isFirst = false
  }
  const keepSubscribed = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      if (client !== undefined) await waitForEnd(client, subscription, stopped.signal)
      client = undefined
      await wait(RECONNECT_MS, undefined, { signal: stopped.signal }).catch(() => undefined)
      if (!stopped.signal.aborted) await subscribe()
    }
  }

  await subscribe()
  const loop = keepSubscribed()
  return async () => {
    stopped.abort()
    await loop
  }
}

const query = (client: pg.Client, text: string) =>
  client.query({ text, query_timeout: RESPONSE_TIMEOUT_MS } as pg.QueryConfig)

/**
 * Resolves when the connection ends, stops responding or is stopped. The heartbeat repeats LISTEN,
 * which changes nothing and shows the session's purpose in pg_stat_activity.
 */
async function waitForEnd(
  client: pg.Client,
  subscription: string,
  stopped: AbortSignal,
): Promise<void> {
  const destroyConnection = () => void socketOf(client).destroy()
  const heartbeat = setInterval(
    () => void query(client, subscription).catch(destroyConnection),
    HEARTBEAT_MS,
  )
  stopped.addEventListener('abort', destroyConnection, { once: true })
  if (stopped.aborted) destroyConnection()
  await new Promise<void>((resolve) => client.once('end', () => resolve()))
  clearInterval(heartbeat)
  stopped.removeEventListener('abort', destroyConnection)
}
