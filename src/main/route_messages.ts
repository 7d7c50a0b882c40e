import type { Engine } from '#domain/authorizations/engine.ts'
import { cellOfPan } from '#domain/cards/pan_vault.ts'
import { DatabaseUnavailable } from '#platform/postgres/db.ts'
import { Overdue } from '#platform/postgres/write_lane.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { OtherCells } from './cells.ts'

type Routes = Pick<OtherCells, 'started' | 'numbers'> & {
  clock: Pick<Clock, 'monotonic'>
  serves_home: boolean
}

/**
 * The engine of all cells: the card number names the cell. A number that its cell doesn't know may
 * be one of cell 0, issued before there were others.
 */
export function routeMessages(
  home: Engine,
  { started, numbers, clock, serves_home }: Routes,
): Engine {
  if (numbers.size === 0) return home
  const guards = new Map<Engine, Engine['submit']>()
  const guarded = (engine: Engine): Engine['submit'] => {
    const known = guards.get(engine) ?? refuseWhileDown(engine, clock)
    guards.set(engine, known)
    return known
  }
  const submitHome: Engine['submit'] = async (request) => {
    if (!serves_home) throw new DatabaseUnavailable('this node does not serve cell 0')
    return guarded(home)(request)
  }
  const all = () => [home, ...[...started.values()].map(({ issuing }) => issuing.engine)]
  return {
    submit: async (request) => {
      const number = cellOfPan(request.pan_hash)
      const named = started.get(number)?.issuing.engine
      if (named !== undefined) {
        return guarded(named)(request, () => submitHome(request))
      }
      if (numbers.has(number)) throw new DatabaseUnavailable(`cell ${number} is not served here`)
      return submitHome(request)
    },
    load: () => all().reduce((sum, engine) => sum + engine.load(), 0),
    drain: async () => void (await Promise.all(all().map((engine) => engine.drain()))),
  }
}

/** More than one batch that met a lock, fewer than a connection has in flight. */
const FAILURES_MAX = 32
const PROBE_EVERY_MS = 100

/**
 * A cell whose database doesn't respond refuses without waiting, except for a probe now and then.
 * Otherwise its messages would wait for a second each and fill the connections of all cells.
 */
function refuseWhileDown(engine: Engine, clock: Pick<Clock, 'monotonic'>): Engine['submit'] {
  let failures = 0
  let probe_at_ms = 0
  return async (request, submitToOtherCell) => {
    if (failures >= FAILURES_MAX) {
      const now_ms = clock.monotonic()
      if (now_ms < probe_at_ms) throw new DatabaseUnavailable('the cell does not respond')
      probe_at_ms = now_ms + PROBE_EVERY_MS
    }
    try {
      const response = await engine.submit(request, submitToOtherCell)
      failures = 0
      return response
    } catch (cause) {
      if (cause instanceof DatabaseUnavailable || cause instanceof Overdue) failures += 1
      throw cause
    }
  }
}
