/**
 * A ratio that a bench reports, with its goal and the lowest figure that was measured: ratios to
 * pgbench differ between machines.
 */
export type Goal = {
  bench: string
  ratio: string
  goal: number
  measured: number
  /** The ratio is a cost: less is better. */
  is_cost?: true
}

/** `npm run bench -- --check` measures these for a few seconds each. */
export const goals = [
  { bench: 'authorizations', ratio: 'TCP to pgbench', goal: 2, measured: 0.84 },
  { bench: 'authorizations', ratio: 'engine to pgbench', goal: 3.5, measured: 1.35 },
  { bench: 'http', ratio: 'get_account to a bare route', goal: 0.6, measured: 0.58 },
  { bench: 'http', ratio: 'list_transactions to a bare route', goal: 0.6, measured: 0.62 },
  { bench: 'mcp', ratio: 'MCP to REST', goal: 1.3, measured: 1.41, is_cost: true },
  { bench: 'webhooks', ratio: 'deliveries to a bare loop', goal: 0.6, measured: 0.28 },
] as const satisfies readonly Goal[]

type RatioName = (typeof goals)[number]['ratio']
export type RatioReport = { ratio: RatioName; value: number }

/** Set by `--check`: benches then measure their ratios only, in short rounds. */
export const is_check = process.env['BENCH_CHECK'] === '1'

/** Sends a ratio to `--check`. */
export function reportRatio(ratio: RatioName, value: number): void {
  process.send?.({ ratio, value } satisfies RatioReport)
}

/** Half of the goal, or of the measured figure while that is below the goal; twice for a cost. */
export function limitOf({ goal, measured, is_cost }: Goal): number {
  return is_cost ? 2 * Math.max(goal, measured) : Math.min(goal, measured) / 2
}

/** A ratio that was not reported is not within its limit. */
export function isWithin(goal: Goal, value: number | undefined): boolean {
  if (value === undefined) return false
  return goal.is_cost ? value <= limitOf(goal) : value >= limitOf(goal)
}
