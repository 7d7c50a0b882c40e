import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startEnvironment, withoutFlushes } from '#bench/authorizations_parts/environment.ts'
import { startReceiver, subscribe } from '#bench/webhooks_parts/environment.ts'
import { node_env } from '#test/support/node_env.ts'
import type { CpuTimes } from './cost_by_kind.ts'
import { type Holder, holdersOf } from './population.ts'
import { postgresCpuUs } from './postgres_cost.ts'
import { mixed_shares } from './shares.ts'
import type { Job, Report } from './traffic.ts'

/** Accounts with a webhook endpoint. */
const SUBSCRIBED = 100

async function ask<Answer>(child: ChildProcess, request: string | Job): Promise<Answer> {
  child.send(request)
  const [answer] = await once(child, 'message')
  return answer as Answer
}

const KEYS_AT_ONCE = 32

/** The first use of a key on a day is audited; later ones are what a day consists of. */
async function useEachKey(url: string, holders: readonly Holder[]): Promise<void> {
  const waiting = holders.values()
  const useNext = async () => {
    for (const { key } of waiting) {
      const headers = { authorization: `Bearer ${key}` }
      await (await fetch(`${url}/v1/balance`, { headers })).arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: KEYS_AT_ONCE }, useNext))
}

/** The service and its traffic, each in a process of its own, and a receiver of webhooks. */
export async function startMix(account_count: number, in_flight: number) {
  console.log(`Preparing ${account_count} accounts…`)
  const environment = await startEnvironment(account_count, { treasury_usd: 1_000 })
  const { dependencies, data_dir, url: database_url } = environment
  let holders: Holder[] = []
  await withoutFlushes(database_url, async (db) => {
    holders = await holdersOf({ ...dependencies, db }, environment.cards)
  })
  const receiver = await startReceiver()
  await dependencies.db.transaction(async (tx) => {
    for (const { account_id } of holders.slice(0, SUBSCRIBED)) {
      await subscribe(tx, dependencies, { account_id, url: receiver.accepting })
    }
  })
  const pid_file = join(data_dir, 'postgres', 'postmaster.pid')
  const server_pid = Number.parseInt(await readFile(pid_file, 'utf8'), 10)
  const service = fork(new URL('./florin_process.js', import.meta.url), {
    env: {
      ...process.env,
      ...node_env,
      FLORIN_DATA_DIR: data_dir,
      FLORIN_DATABASE_URL: database_url,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [{ url, card_host_port }] = (await once(service, 'message')) as [
    { url: string; card_host_port: number },
  ]
  const traffic = fork(new URL('./traffic.js', import.meta.url))
  await once(traffic, 'message')
  await useEachKey(url, holders)
  const job = { url, card_host_port, holders, in_flight, per_second: null, shares: mixed_shares }
  const readUse = () => ask<{ cpu_us: number; rss_mb: number }>(service, 'cpu')
  return {
    database_url,
    db: dependencies.db,
    receiver,
    settle: environment.settle,
    runTraffic: (changes: Partial<Job> & { seconds: number }) =>
      ask<Report>(traffic, { ...job, ...changes }),
    readCpu: async (): Promise<CpuTimes> => ({
      service_us: (await readUse()).cpu_us,
      postgres_us: (await postgresCpuUs(server_pid)) ?? 0,
    }),
    readMemoryMb: async () => (await readUse()).rss_mb,
    startProfile: async () => void (await ask(service, 'profile')),
    /** Microseconds by part since the profile was started. */
    endProfile: () => ask<Record<string, number>>(service, 'parts'),
    stop: async () => {
      traffic.disconnect()
      receiver.stop()
      const ended = once(service, 'exit')
      service.kill('SIGTERM')
      await ended
      await environment.stop()
    },
  }
}
