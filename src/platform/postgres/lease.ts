import { performance } from 'node:perf_hooks'
import type pg from 'pg'
import { keyOfText } from './advisory_key.ts'
import type { Database } from './db.ts'

/** The lease is lost, or its holder can't be sure of it. The holder must stop. */
export class LeaseLost extends Error {}

export type Lease = {
  /** Throws LeaseLost once the lease is no longer certain. */
  check(): void
  /** Wraps an object so that each of its methods checks the lease first. */
  guard<Part extends object>(part: Part): Part
}

/** The server ends a lease's session after this long without a heartbeat, and the lease with it. */
const SESSION_IDLE_MS = 8_000
/** The holder stops earlier, counted from the last successful heartbeat. */
const HELD_MS = 6_000
const HEARTBEAT_MS = 2_000

const ACQUIRE = `select case when pg_try_advisory_lock(${keyOfText()})
  then set_config('idle_session_timeout', $2, false) end is not null as is_ours`
const RELEASE = `select pg_advisory_unlock(${keyOfText()}),
  set_config('idle_session_timeout', '0', false)`

/**
 * Runs the work if no other node holds the lease of this name; returns whether it did.
 *
 * The lease is an advisory lock of a database session. A machine that loses power closes no
 * connection, so the server ends the session of a holder that is silent for eight seconds, and the
 * holder stops after six. With the interval of the tasks, another node takes over within 15
 * seconds. A call sent before the lease was lost may still arrive later, and a restarted server has
 * forgotten its locks, so everything written under a lease must be safe to write twice.
 */
export async function withLease(
  db: Database,
  name: string,
  work: (lease: Lease) => Promise<void>,
): Promise<boolean> {
  const key = `florin:${name}`
  return db.connection(async (client) => {
    const session = leaseSession(client)
    const taken = await session.query<{ is_ours: boolean }>(ACQUIRE, [key, String(SESSION_IDLE_MS)])
    if (taken.rows[0]?.is_ours !== true) return false
    const stopHeartbeat = session.startHeartbeat()
    const check = () => {
      if (!session.isHeld()) throw new LeaseLost(`the lease ${name} was lost`)
    }
    try {
      await work({ check, guard: (part) => guarded(part, check) })
    } finally {
      stopHeartbeat()
      // Throws if the lease is uncertain, which discards the connection.
      check()
      await session.query(RELEASE, [key])
    }
    return true
  })
}

/** Every successful query proves that the session was alive when the query was sent. */
function leaseSession(client: pg.ClientBase) {
  let held_until = 0
  const lose = () => {
    held_until = Number.NEGATIVE_INFINITY
  }
  const query = async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) => {
    const sent_at = performance.now()
    const result = await client.query<Row>({
      text,
      values,
      query_timeout: HELD_MS,
    } as pg.QueryConfig)
    held_until = Math.max(held_until, sent_at + HELD_MS)
    return result
  }
  return {
    query,
    isHeld: () => performance.now() < held_until,
    startHeartbeat: () => {
      client.once('end', lose)
      const timer = setInterval(() => void query('select 1').catch(lose), HEARTBEAT_MS)
      return () => {
        clearInterval(timer)
        client.off('end', lose)
      }
    },
  }
}

function guarded<Part extends object>(part: Part, check: () => void): Part {
  return new Proxy(part, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        check()
        return Reflect.apply(value, target, args)
      }
    },
  })
}
