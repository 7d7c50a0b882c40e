import type { Metric } from 'prom-client'

const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const

type Tally = { counts: number[]; sum_s: number; count: number }
type Value = { metricName: string; labels: Record<string, string | number>; value: number }

/**
 * A histogram of Prometheus: the time from a request to its answer, by operation and status. Every
 * request is counted, and the library would make a text of its labels each time.
 */
export class RequestTimes {
  readonly name = 'florin_request_seconds'
  readonly help = 'Time from a request to its answer, by operation and status.'
  readonly type = 'histogram'
  readonly aggregator = 'sum'
  readonly #tallies = new Map<string, Map<number, Tally>>()

  /** As the library's registry takes it. */
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
      [...by_status].flatMap(([status, tally]) => this.#shown({ operation, status }, tally)),
    )
    return { name, help, type, aggregator, values }
  }

  /** Each bucket counts all that were as quick, those of the buckets below it too. */
  #shown(labels: Record<string, string | number>, { counts, sum_s, count }: Tally): Value[] {
    let within = 0
    const buckets = BUCKETS_S.map((le, at): Value => {
      within += counts[at] ?? 0
      return { metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: within }
    })
    return [
      ...buckets,
      { metricName: `${this.name}_bucket`, labels: { le: '+Inf', ...labels }, value: count },
      { metricName: `${this.name}_sum`, labels, value: sum_s },
      { metricName: `${this.name}_count`, labels, value: count },
    ]
  }
}
