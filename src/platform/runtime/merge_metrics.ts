import { AggregatorRegistry, type MetricObject } from 'prom-client'

/**
 * The metrics of several processes as one text. Their series differ by a label, so they are only
 * put together: a sum would fall when a process is replaced, which Prometheus takes for a reset of
 * all of them.
 */
export function mergeMetrics(processes: readonly MetricObject[][]): Promise<string> {
  const merged = processes.map((metrics) =>
    metrics.map((metric) => ({ ...metric, aggregator: 'sum' })),
  )
  return AggregatorRegistry.aggregate(merged).metrics()
}
