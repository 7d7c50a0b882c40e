import type { CountedCall } from '#domain/risk/velocity.ts'
import { countAddress, requireAddressAllowed, uncountAddress } from '#domain/risk/velocity.ts'
import type { Response } from '#operations/call.ts'
import type { AnyHandler } from '#operations/handlers.ts'
import type { Invocation } from '#operations/invocation.ts'
import { type Database, DatabaseUnavailable } from '#platform/postgres/db.ts'
import { type Work, wrapRun } from './work.ts'

type SharedCount = { db: Database; call: CountedCall }

/** Null if the call's own transaction counts its address for all cells, or nothing limits it. */
function sharedCountOf({ runtime, operation, request }: Invocation): SharedCount | null {
  const { cells, settings, clock } = runtime
  if (cells === null || runtime === cells.home || operation.name === 'create_account') return null
  if (settings.risk.velocity[operation.name]?.ip_per_day === undefined) return null
  const call = { settings, operation: operation.name, caller: null, ip: request.ip }
  return { db: cells.home.db, call: { ...call, now: clock.now() } }
}

/**
 * Runs a write of an address that cell 0 counts for all cells. That is another database, so it is
 * counted before the write's transaction, and taken back if the write changes nothing. While cell 0
 * is down, the cell's own count limits the address.
 */
export async function withAddressCount(
  invocation: Invocation,
  work: Work,
  runWrite: (invocation: Invocation, work: Work) => Promise<Response>,
): Promise<Response> {
  const shared = sharedCountOf(invocation)
  if (shared === null) return runWrite(invocation, work)
  let is_counted = false
  let has_run = false
  const counting = countFirst(work.handler, async () => {
    is_counted = await ifAvailable(() => countAddress(shared.db, shared.call))
  })
  const handler = wrapRun(counting, (run) => async (context, input) => {
    has_run = false
    const output = await run(context, input)
    has_run = true
    return output
  })
  try {
    return await runWrite(invocation, { ...work, handler })
  } catch (cause) {
    has_run = false
    throw cause
  } finally {
    if (is_counted && !has_run) {
      await ifAvailable(() => uncountAddress(shared.db, shared.call))
    }
  }
}

/** Refuses a call before its payment if it would be refused after it. */
export async function requireAddress(invocation: Invocation): Promise<void> {
  const shared = sharedCountOf(invocation)
  if (shared !== null) await ifAvailable(() => requireAddressAllowed(shared.db, shared.call))
}

/** A preparation runs after the look-up of the Idempotency-Key, so a replay does not count. */
function countFirst(handler: AnyHandler, count: () => Promise<void>): AnyHandler {
  if (typeof handler === 'function') {
    return {
      prepare: async () => {
        await count()
        return handler
      },
    }
  }
  return {
    ...handler,
    prepare: async (context, input) => {
      await count()
      return handler.prepare(context, input)
    },
  }
}

async function ifAvailable(work: () => Promise<void>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (cause) {
    if (cause instanceof DatabaseUnavailable) return false
    throw cause
  }
}
