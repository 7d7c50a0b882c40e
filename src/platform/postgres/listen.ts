import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import type { Log } from '#platform/runtime/log.ts'
import { socketOf } from './send_statement.ts'

type Subscription = { channel: string; hear: (payload: string) => void; log: Log }

const RECONNECT_MS = 250
const HEARTBEAT_MS = 3_000
const ANSWER_MS = 3_000

/**
 * Stays subscribed to a channel until it is stopped: a lost connection, a silent server and a host
 * that turns out to be a standby are each followed by another attempt. Notifications are hints, so
 * the subscriber does without them meanwhile, and is told with an empty one to look for itself
 * whenever some may have been lost.
 */
export async function listen(
  dial: () => Promise<pg.Client>,
  { channel, hear, log }: Subscription,
): Promise<() => Promise<void>> {
  const stopped = new AbortController()
  const subscription = `listen ${channel}`
  let client: pg.Client | undefined
  let isFirst = true
  let isDeaf = false

  const subscribe = async (): Promise<void> => {
    try {
      client = await dial()
      client.on('notification', ({ payload }) => hear(payload ?? ''))
      await ask(client, subscription)
      if (!isFirst) hear('')
      isDeaf = false
    } catch (cause) {
      if (client !== undefined) socketOf(client).destroy()
      client = undefined
      if (!isDeaf) log.error('cannot listen to the database; trying again', { channel }, cause)
      isDeaf = true
    }
    isFirst = false
  }
  const stay = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      if (client !== undefined) await ended(client, subscription, stopped.signal)
      client = undefined
      await wait(RECONNECT_MS, undefined, { signal: stopped.signal }).catch(() => undefined)
      if (!stopped.signal.aborted) await subscribe()
    }
  }

  await subscribe()
  const staying = stay()
  return async () => {
    stopped.abort()
    await staying
  }
}

const ask = (client: pg.Client, text: string) =>
  client.query({ text, query_timeout: ANSWER_MS } as pg.QueryConfig)

/**
 * Resolves when the connection has ended, answers no more, or is to be closed. The heartbeat
 * subscribes again, which changes nothing and shows in pg_stat_activity what the session is for.
 */
async function ended(client: pg.Client, subscription: string, stopped: AbortSignal): Promise<void> {
  const destroyConnection = () => void socketOf(client).destroy()
  const heartbeat = setInterval(
    () => void ask(client, subscription).catch(destroyConnection),
    HEARTBEAT_MS,
  )
  stopped.addEventListener('abort', destroyConnection, { once: true })
  if (stopped.aborted) destroyConnection()
  await new Promise<void>((resolve) => client.once('end', () => resolve()))
  clearInterval(heartbeat)
  stopped.removeEventListener('abort', destroyConnection)
}
