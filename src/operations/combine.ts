import type { OperatorOutput } from '#contract/operator/operations.ts'
import { assert } from '#kernel/assert.ts'

type Figures = OperatorOutput<'operator_get_figures'>
type Day = Figures['days'][number]
type Reconciliation = OperatorOutput<'operator_get_reconciliation'>
type Health = OperatorOutput<'operator_get_health'>
type Status = Health['status']
type KillSwitches = OperatorOutput<'operator_list_kill_switches'>
type KillSwitch = KillSwitches['data'][number]

type PaidCalls = NonNullable<Reconciliation['paid_calls']>
type Amount = Exclude<keyof PaidCalls, 'network' | 'asset' | 'fault'>

type Combine = (bodies: readonly never[]) => object

/** Combines the responses of all cells; the first is that of cell 0. */
export const combined: Readonly<Record<string, Combine>> = {
  operator_get_figures: (bodies: readonly Figures[]): Figures => {
    const [first] = bodies
    assert(first !== undefined, 'there is at least one cell')
    return {
      ...first,
      totals: addUp(bodies.map(({ totals }) => totals)),
      days: first.days.map(({ day }) =>
        addDays(bodies.flatMap(({ days }) => days.filter((one) => one.day === day))),
      ),
    }
  },
  operator_get_reconciliation: (bodies: readonly Reconciliation[]): Reconciliation => {
    const [first] = bodies
    assert(first !== undefined, 'there is at least one cell')
    const proven = bodies.map(({ proven_at }) => proven_at ?? '').sort()
    const names = new Set(bodies.flatMap(({ network }) => network.map((one) => one.network)))
    const paid = bodies.flatMap(({ paid_calls }) => (paid_calls === null ? [] : [paid_calls]))
    return {
      ...first,
      paid_calls: addPaidCalls(paid),
      proven_at: proven[0] || null,
      violations: bodies.flatMap(({ violations }) => violations),
      network: [...names].map((name) => ({
        network: name,
        ...addUp(
          bodies.flatMap(({ network }) =>
            network
              .filter((one) => one.network === name)
              .map(({ network: _, ...amounts }) => amounts),
          ),
        ),
      })),
    }
  },
  operator_list_kill_switches: (bodies: readonly KillSwitches[]): KillSwitches => {
    const all = bodies.flatMap(({ data }) => data)
    const first = bodies[0]?.data ?? []
    return {
      data: first.map((one) =>
        combineSwitch(
          one,
          all.filter(({ rail }) => rail === one.rail),
        ),
      ),
    }
  },
  operator_get_health: (bodies: readonly Health[]): Health => {
    const [first] = bodies
    assert(first !== undefined, 'there is at least one cell')
    const worstOf = <Name extends keyof Health['components']>(name: Name) =>
      worst(bodies.map(({ components }) => components[name]))
    return {
      ...first,
      status: worst(bodies).status,
      components: {
        issuer: worstOf('issuer'),
        rails: worstOf('rails'),
        network: worstOf('network'),
      },
    }
  },
}

/**
 * On if it is on in any cell. A cell that was restored from a backup is paused alone: the reason
 * says so, or the rail would look stopped everywhere.
 */
function combineSwitch(first: KillSwitch, of_cells: readonly KillSwitch[]): KillSwitch {
  const on = of_cells.filter((one) => one.on)
  const [shown] = on
  if (shown === undefined || on.length === of_cells.length) return shown ?? first
  const place = `only in ${on.length} of ${of_cells.length} cells`
  return { ...shown, reason: shown.reason === null ? place : `${shown.reason} (${place})` }
}

/** Each cell has a receiving address of its own. Without the balance of one there is no sum. */
function addPaidCalls(all: readonly PaidCalls[]): PaidCalls | null {
  const [first] = all
  if (first === undefined) return null
  const sum = (name: Amount) => round(all.reduce((total, one) => total + (one[name] ?? 0), 0))
  const isKnown = all.every(({ on_chain_usd }) => on_chain_usd !== null)
  return {
    ...first,
    ledger_usd: sum('ledger_usd'),
    owed_usd: sum('owed_usd'),
    credited_usd: sum('credited_usd'),
    relayer_fees_usd: sum('relayer_fees_usd'),
    in_flight_usd: sum('in_flight_usd'),
    on_chain_usd: isKnown ? sum('on_chain_usd') : null,
    difference_usd: isKnown ? sum('difference_usd') : null,
    fault: all.find(({ fault }) => fault !== null)?.fault ?? null,
  }
}

/** From best to worst. */
const STATUSES: readonly Status[] = ['operational', 'maintenance', 'degraded', 'outage']

function worst<One extends { status: Status }>(all: readonly One[]): One {
  const [first, ...rest] = all
  assert(first !== undefined, 'there is at least one cell')
  const rank = ({ status }: One) => STATUSES.indexOf(status)
  return rest.reduce((found, one) => (rank(one) > rank(found) ? one : found), first)
}

/** Sums of dollars have six decimals at most; adding them as numbers would add more. */
const round = (value: number): number => Math.round(value * 1_000_000) / 1_000_000

function addUp<Amounts extends Record<string, number>>(all: readonly Amounts[]): Amounts {
  const sums: Record<string, number> = {}
  for (const amounts of all) {
    for (const [name, amount] of Object.entries(amounts)) {
      sums[name] = round((sums[name] ?? 0) + amount)
    }
  }
  return sums as Amounts
}

function addDays(days: readonly Day[]): Day {
  const reasons = addUp(days.map(({ decline_reasons }) => decline_reasons))
  const counts = addUp(
    days.map(({ day: _day, approval_rate: _rate, decline_reasons: _reasons, ...rest }) => rest),
  )
  const requests = counts.approved + counts.declined
  return {
    day: days[0]?.day ?? '',
    ...counts,
    approval_rate: requests === 0 ? null : Math.round((counts.approved / requests) * 1e4) / 1e4,
    decline_reasons: reasons,
  }
}
