import type { Dependencies } from '#domain/context/context.ts'
import type { ComponentHealth, Probes } from '#platform/runtime/health.ts'
import { type CursorRow, findCursors, findFaultsWithoutCursor } from './chain_store.ts'

/** A chain that has not been read for so long is behind; for ten times as long, it is down. */
const STALE_SECONDS = 60
const LOST_SECONDS = 600

/** The second look at final blocks follows within a few passes of a hundred. */
const UNAUDITED_BLOCKS = 300n

type Parts = Pick<Dependencies, 'db' | 'clock' | 'settings'>

/** The rails and the network, as the watcher last found them: every figure was measured there. */
export function chainProbes({ db, clock, settings }: Parts): Pick<Probes, 'rails' | 'network'> {
  const names = settings.chains.map(({ chain }) => chain)
  return {
    rails: async () => {
      const started = clock.monotonic()
      const read = await readState(db).catch(() => null)
      const latency_ms = Math.round((clock.monotonic() - started) * 100) / 100
      if (read === null) {
        return { status: 'outage', message: 'The database does not answer.', latency_ms: null }
      }
      const parts = names.map((name) => healthOf(name, read, clock.now()))
      return { ...worstOf(parts), latency_ms }
    },
    network: async () => {
      const read = await readState(db).catch(() => ({ cursors: [], faults: new Map() }))
      const { cursors } = read
      const now = clock.now()
      const parts = names.map((name) => ({ name, ...healthOf(name, read, now) }))
      const shown = parts.find(({ status }) => status !== 'operational') ?? parts[0]
      const chain = shown?.name ?? ''
      const cursor = cursors.find((one) => one.chain === chain)
      return {
        ...worstOf(parts),
        chain,
        block_height: cursor === undefined ? null : Number(cursor.head_number),
        lag_seconds: cursor === undefined ? null : secondsSince(cursor.head_at, now),
      }
    },
  }
}

type ReadState = { cursors: readonly CursorRow[]; faults: ReadonlyMap<string, string> }

async function readState(db: Parts['db']): Promise<ReadState> {
  return { cursors: await findCursors(db), faults: await findFaultsWithoutCursor(db) }
}

function healthOf(name: string, { cursors, faults }: ReadState, now: Date): ComponentHealth {
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

function worstOf(parts: readonly ComponentHealth[]): ComponentHealth {
  const sorted = parts.toSorted((a, b) => ORDER.indexOf(b.status) - ORDER.indexOf(a.status))
  const [worst = { status: 'operational', message: null }] = sorted
  return { status: worst.status, message: worst.message }
}

function secondsSince(moment: Date, now: Date): number {
  return Math.max(0, Math.round((now.getTime() - moment.getTime()) / 1_000))
}
