import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import type { FlorinError } from '#client/client.ts'
import type { BalancePoint } from '#contract/balance.ts'
import { callOperation } from '#panel/api.ts'
import { serviceNow } from '#panel/service_clock.ts'

const PAGE_ROWS = 100
/** More changes than a screen has pixels; older ones are left out. */
const POINTS_MAX = 1_000
const DAY_S = 86_400

export type BalanceSteps = {
  /** Unix timestamps in seconds, ascending. */
  times: number[]
  values: number[]
  is_cut: boolean
}

async function readPoints(from: string, signal: AbortSignal): Promise<BalancePoint[]> {
  const points: BalancePoint[] = []
  let cursor: string | null = null
  do {
    const page: { data: BalancePoint[]; next_cursor: string | null } = await callOperation(
      'get_balance_history',
      { limit: PAGE_ROWS, created_gte: from, ...(cursor !== null && { cursor }) },
      { signal },
    )
    points.push(...page.data)
    cursor = page.next_cursor
  } while (cursor !== null && points.length < POINTS_MAX)
  return points
}

/** The balance over the last days, as steps from the start of the range to now. */
export function useBalanceSteps(days: number): UseQueryResult<BalanceSteps, FlorinError> {
  return useQuery<BalanceSteps, FlorinError>({
    queryKey: ['get_balance_history', 'steps', days],
    queryFn: async ({ signal }) => {
      const now_s = serviceNow() / 1_000
      const from_s = now_s - days * DAY_S
      const from = new Date(from_s * 1_000).toISOString()
      const points = await readPoints(from, signal)
      const input = { limit: 1, created_lt: from }
      const [before] = (await callOperation('get_balance_history', input, { signal })).data
      return stepsOf({ points, before_usd: before?.balance_usd ?? null, from_s, now_s })
    },
  })
}

type StepsInput = {
  /** Newest first, as the API lists them. */
  points: readonly Pick<BalancePoint, 'created_at' | 'balance_usd' | 'amount_usd'>[]
  /** The balance before the range; null if there was none, or it is not known. */
  before_usd: number | null
  from_s: number
  now_s: number
}

export function stepsOf({ points, before_usd, from_s, now_s }: StepsInput): BalanceSteps {
  const ascending = points.toReversed()
  const is_cut = points.length >= POINTS_MAX
  const [first] = ascending
  const start_usd =
    first === undefined
      ? (before_usd ?? 0)
      : Math.round((first.balance_usd - first.amount_usd) * 1e6) / 1e6
  const start_s = is_cut && first !== undefined ? secondsOf(first) - 1 : from_s
  const last_usd = ascending.at(-1)?.balance_usd ?? start_usd
  return {
    times: [start_s, ...ascending.map(secondsOf), now_s],
    values: [start_usd, ...ascending.map(({ balance_usd }) => balance_usd), last_usd],
    is_cut,
  }
}

const secondsOf = ({ created_at }: { created_at: string }) => Date.parse(created_at) / 1_000
