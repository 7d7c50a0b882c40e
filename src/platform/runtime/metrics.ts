import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { RequestTimes } from './request_times.ts'

/** What Prometheus reads at /metrics. */
export type Metrics = {
  registry: Registry
  request_seconds: RequestTimes
  problems: Counter<'operation' | 'code'>
  task_failures: Counter<'task'>
  card_messages: Counter<'mti' | 'code'>
  card_connections_refused: Counter<'reason'>
  unpriced_clearings: Counter
  held_refunds: Counter
  webhook_attempts: Counter<'status'>
  clock_offset_seconds: Gauge
  rate_limits_shared: Gauge
}

export function makeMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const request_seconds = new RequestTimes()
  registry.registerMetric(request_seconds.asMetric())
  collectDefaultMetrics({ register: registry, prefix: 'florin_' })
  return {
    registry,
    request_seconds,
    ...cardMetrics(registers),
    problems: new Counter({
      name: 'florin_problems_total',
      help: 'Answers that were not a success, by operation and error code.',
      labelNames: ['operation', 'code'],
      registers,
    }),
    task_failures: new Counter({
      name: 'florin_task_failures_total',
      help: 'Passes of a background task that failed.',
      labelNames: ['task'],
      registers,
    }),
    webhook_attempts: new Counter({
      name: 'florin_webhook_attempts_total',
      help: 'Attempts to deliver an event, by how they went.',
      labelNames: ['status'],
      registers,
    }),
    rate_limits_shared: new Gauge({
      name: 'florin_rate_limits_shared',
      help: '1 while nodes share rate limits through Redis, 0 while each counts by itself.',
      registers,
    }),
    clock_offset_seconds: new Gauge({
      name: 'florin_clock_offset_seconds',
      help: "How far the service's clock runs ahead of the world's.",
      registers,
    }),
  }
}

/** What happens at the card host. */
function cardMetrics(registers: Registry[]) {
  return {
    card_messages: new Counter({
      name: 'florin_card_messages_total',
      help: 'Messages of card networks, by type and response code.',
      labelNames: ['mti', 'code'],
      registers,
    }),
    card_connections_refused: new Counter({
      name: 'florin_card_connections_refused_total',
      help: 'Connections to the card host that were refused, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    unpriced_clearings: new Counter({
      name: 'florin_unpriced_clearings_total',
      help: 'Clearings in a foreign currency that wait for a person to say their dollars.',
      registers,
    }),
    held_refunds: new Counter({
      name: 'florin_held_refunds_total',
      help: 'Refunds beyond what their purchase took that were held for approval.',
      registers,
    }),
  }
}
