import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { STANDARD_NOTIFICATIONS } from '#domain/accounts/account.ts'
import { insertAccount } from '#domain/accounts/account_store.ts'
import type { Dependencies, NewEvent } from '#domain/context/context.ts'
import { recordEvents } from '#domain/events/record_events.ts'
import { newSecret } from '#domain/webhooks/webhook.ts'
import { insertWebhook } from '#domain/webhooks/webhook_store.ts'
import { makeDependencies } from '#main/dependencies.ts'
import { startEmbeddedPostgres } from '#platform/embedded_postgres/embedded_postgres.ts'
import { openDatabase, type Tx } from '#platform/postgres/db.ts'
import { migrate } from '#platform/postgres/migrate.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { readSettings } from '#settings/settings.ts'

export type Receiver = {
  accepting: string
  /** One origin each. */
  hanging: string[]
  /** Returns the counts since the last call and resets them. */
  takeReport(): Promise<{ count: number; ages_ms: number[] }>
  stop(): void
}

export async function startReceiver(): Promise<Receiver> {
  const script = new URL('./receiver.js', import.meta.url)
  const child: ChildProcess = fork(script)
  const [urls] = (await once(child, 'message')) as [{ accepting: string; hanging: string[] }]
  return {
    ...urls,
    takeReport: async () => {
      child.send('ask')
      const [response] = await once(child, 'message')
      return response as { count: number; ages_ms: number[] }
    },
    stop: () => child.disconnect(),
  }
}

export type BenchEnvironment = Dependencies & {
  /** The PostgreSQL server's process. */
  server_pid: number
  stop(): Promise<void>
}

/** The service's dependencies on a separate, durable database. */
export async function startEnvironment(): Promise<BenchEnvironment> {
  const data_dir = await mkdtemp(join(tmpdir(), 'florin_bench_'))
  const postgres = await startEmbeddedPostgres({ data_dir })
  const db = openDatabase(postgres.url)
  await migrate(db)
  const settings = readSettings({ FLORIN_DATA_DIR: data_dir })
  const dependencies = await makeDependencies(settings, db, { log: silentLog })
  const pid_file = join(data_dir, 'postgres', 'postmaster.pid')
  return {
    ...dependencies,
    server_pid: Number.parseInt(await readFile(pid_file, 'utf8'), 10),
    stop: async () => {
      await db.close()
      await postgres.stop()
      await rm(data_dir, { recursive: true, force: true })
    },
  }
}

/** Creates an account with one webhook per URL, subscribed to all events. */
export async function createSubscribedAccount(
  dependencies: Dependencies,
  urls: readonly string[],
): Promise<string> {
  const { db, clock, newId } = dependencies
  const now = clock.now()
  const id = newId('acct', now)
  await db.transaction(async (tx) => {
    const notifications = STANDARD_NOTIFICATIONS
    const email = `${id}@example.com`
    await insertAccount(tx, { id, email, password_hash: '-', notifications, now })
    for (const url of urls) await subscribe(tx, dependencies, { account_id: id, url })
  })
  return id
}

/** Sends all events of an account to the URL. */
export async function subscribe(
  tx: Tx,
  dependencies: Dependencies,
  { account_id, url }: { account_id: string; url: string },
): Promise<void> {
  const now = dependencies.clock.now()
  const id = dependencies.newId('wh', now)
  const { secret: _secret, ...sealed } = newSecret(dependencies, id)
  const all = { url, events: ['*'], description: null, grant_id: null }
  await insertWebhook(tx, { account_id, id, now, ...all, ...sealed })
}

/** About a kilobyte, like a card. */
const OBJECT = { id: 'card_01kc3z8e5xf8m9r4t2v6w7y8za', note: 'x'.repeat(700) }

const EVENT: NewEvent = {
  type: 'card.loaded',
  message: '25.50 USD loaded onto the card ending in 4242.',
  resource: { type: 'card', id: OBJECT.id },
  object: OBJECT,
}

export async function writeEvents(
  dependencies: Dependencies,
  account_id: string,
  count: number,
): Promise<void> {
  const { db, clock, newId } = dependencies
  const stamp = () => {
    const created_at = clock.now()
    return { id: newId('evt', created_at), created_at }
  }
  const context = { livemode: false, request: null, stamp }
  const events = Array.from({ length: count }, () => EVENT)
  await db.transaction((tx) => recordEvents(tx, account_id, events, context))
}
