import type { Metric } from 'prom-client'

const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const

type Tally = { counts: number[]; sum_s: number; count: number }
type Value = { metricName: string; labels: Record<string, string | number>; value: number }

/**
 * A Prometheus histogram of request durations, by operation and status. Every request is observed,
 * and prom-client's own histogram takes 30 times as long, because it formats the labels each time
 * (`npm run bench -- http`).
 */
export class RequestTimes {
  readonly name = 'florin_request_seconds'
  readonly help = 'Request duration in seconds, by operation and status.'
  readonly type = 'histogram'
  readonly aggregator = 'sum'
  readonly #tallies = new Map<string, Map<number, Tally>>()

  /** For prom-client's registry. */
  asMetric(): Metric {
    return this as unknown as Metric
  }

  observe(operation: string, status: number, seconds: number): void {
    const tally = this.#tallyOf(operation, status)
    tally.sum_s += seconds
    tally.count += 1
    const bucket = BUCKETS_S.findIndex((most_s) => seconds <= most_s)
    if (bucket >= 0) tally.counts[bucket] = (tally.counts[bucket] ?? 0) + 1
  }

  #tallyOf(operation: string, status: number): Tally {
    const known = this.#tallies.get(operation)?.get(status)
    if (known !== undefined) return known
    const tally = { counts: BUCKETS_S.map(() => 0), sum_s: 0, count: 0 }
    const by_status = this.#tallies.get(operation) ?? new Map<number, Tally>()
    this.#tallies.set(operation, by_status.set(status, tally))
    return tally
  }

  async get() {
    const { name, help, type, aggregator } = this
    const values = [...this.#tallies].flatMap(([operation, by_status]) =>
      [...by_status].flatMap(([status, tally]) => this.#valuesOf({ operation, status }, tally)),
    )
    return { name, help, type, aggregator, values }
  }

  /** Buckets are cumulative. */
  #valuesOf(labels: Record<string, string | number>, { counts, sum_s, count }: Tally): Value[] {
    let cumulative = 0
    const buckets = BUCKETS_S.map((le, at): Value => {
      cumulative += counts[at] ?? 0
      return { metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: cumulative }
    })
    return [
      ...buckets,
      { metricName: `${this.name}_bucket`, labels: { le: '+Inf', ...labels }, value: count },
      { metricName: `${this.name}_sum`, labels, value: sum_s },
      { metricName: `${this.name}_count`, labels, value: count },
    ]
  }
}
