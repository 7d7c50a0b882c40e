import type { Database } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { ComponentHealth, Probes } from '#platform/runtime/health.ts'
import type { Settings } from '#settings/settings.ts'
import { type CursorRow, findCursors, findFaultsWithoutCursor, UNSETTLED } from './chain_store.ts'

/** A chain that was not read for a minute is degraded, for ten minutes down. */
const STALE_SECONDS = 60
const LOST_SECONDS = 600

/** The audit normally keeps within a few hundred blocks of the final block. */
const UNAUDITED_BLOCKS = 300n

type ProbeDependencies = { db: Database; clock: Clock; settings: Settings }

/** Health of the rails and the network, as the deposit watcher last measured it. */
export function chainProbes({
  db,
  clock,
  settings,
}: ProbeDependencies): Pick<Probes, 'rails' | 'network'> {
  const names = settings.chains.map(({ chain }) => chain)
  return {
    rails: async () => {
      const started = clock.monotonic()
      const state = await readState(db).catch(() => null)
      const latency_ms = Math.round((clock.monotonic() - started) * 100) / 100
      if (state === null) {
        return { status: 'outage', message: 'The database does not respond.', latency_ms: null }
      }
      const healths = names.map((name) => healthOf(name, state, clock.now()))
      return { ...worstOf(healths), latency_ms }
    },
    network: async () => {
      const state = await readState(db).catch(() => ({ cursors: [], faults: new Map() }))
      const now = clock.now()
      const healths = names.map((name) => ({ name, ...healthOf(name, state, now) }))
      const shown = healths.find(({ status }) => status !== 'operational') ?? healths[0]
      const chain = shown?.name ?? ''
      const cursor = state.cursors.find((one) => one.chain === chain)
      return {
        ...worstOf(healths),
        chain,
        block_height: cursor === undefined ? null : Number(cursor.head_number),
        lag_seconds: cursor === undefined ? null : secondsSince(cursor.head_at, now),
      }
    },
  }
}

type ChainState = { cursors: readonly CursorRow[]; faults: ReadonlyMap<string, string> }

async function readState(db: Database): Promise<ChainState> {
  return { cursors: await findCursors(db), faults: await findFaultsWithoutCursor(db) }
}

function healthOf(name: string, { cursors, faults }: ChainState, now: Date): ComponentHealth {
  const cursor = cursors.find(({ chain }) => chain === name)
  if (cursor === undefined) {
    const fault = faults.get(name)
    const message = fault === undefined ? 'has not been read yet' : `is not read: ${fault}`
    return { status: 'outage', message: `${name} ${message}.` }
  }
  const silence = Math.max(secondsSince(cursor.scanned_at, now), secondsSince(cursor.head_at, now))
  if (silence > LOST_SECONDS) {
    return { status: 'outage', message: `${name} has been silent for ${silence} seconds.` }
  }
  if (cursor.fault === UNSETTLED) return { status: 'degraded', message: `${name}: ${UNSETTLED}.` }
  if (cursor.fault !== null) {
    return { status: 'degraded', message: `${name} credits nothing: ${cursor.fault}.` }
  }
  if (silence > STALE_SECONDS) {
    return { status: 'degraded', message: `${name} is ${silence} seconds behind.` }
  }
  const unaudited = cursor.finalized_number - cursor.audited_number
  if (unaudited > UNAUDITED_BLOCKS) {
    return { status: 'degraded', message: `${name} has ${unaudited} final blocks unaudited.` }
  }
  return { status: 'operational', message: null }
}

const ORDER = ['operational', 'maintenance', 'degraded', 'outage'] as const

function worstOf(healths: readonly ComponentHealth[]): ComponentHealth {
  const sorted = healths.toSorted((a, b) => ORDER.indexOf(b.status) - ORDER.indexOf(a.status))
  const [worst = { status: 'operational', message: null }] = sorted
  return { status: worst.status, message: worst.message }
}

function secondsSince(timestamp: Date, now: Date): number {
  return Math.max(0, Math.round((now.getTime() - timestamp.getTime()) / 1_000))
}
