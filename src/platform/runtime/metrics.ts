import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { RequestTimes } from './request_times.ts'

/** Served to Prometheus at /metrics. */
export type Metrics = {
  registry: Registry
  request_seconds: RequestTimes
  problems: Counter<'operation' | 'code'>
  task_failures: Counter<'task'>
  card_messages: Counter<'mti' | 'code'>
  card_connections_refused: Counter<'reason'>
  pending_conversions: Counter
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
      help: 'Responses with an error, by operation and error code.',
      labelNames: ['operation', 'code'],
      registers,
    }),
    task_failures: new Counter({
      name: 'florin_task_failures_total',
      help: 'Failed runs of background tasks.',
      labelNames: ['task'],
      registers,
    }),
    webhook_attempts: new Counter({
      name: 'florin_webhook_attempts_total',
      help: 'Webhook delivery attempts, by status.',
      labelNames: ['status'],
      registers,
    }),
    rate_limits_shared: new Gauge({
      name: 'florin_rate_limits_shared',
      help: '1 while nodes share rate limits through Redis, 0 while each node counts alone.',
      registers,
    }),
    clock_offset_seconds: new Gauge({
      name: 'florin_clock_offset_seconds',
      help: 'How far the clock of the service is ahead of real time.',
      registers,
    }),
  }
}

function cardMetrics(registers: Registry[]) {
  return {
    card_messages: new Counter({
      name: 'florin_card_messages_total',
      help: 'Card network messages, by MTI and response code.',
      labelNames: ['mti', 'code'],
      registers,
    }),
    card_connections_refused: new Counter({
      name: 'florin_card_connections_refused_total',
      help: 'Refused connections to the card host, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    pending_conversions: new Counter({
      name: 'florin_pending_conversions_total',
      help: 'Foreign-currency clearings that await conversion by an operator.',
      registers,
    }),
    held_refunds: new Counter({
      name: 'florin_held_refunds_total',
      help: 'Refunds above the purchase amount that were held for approval.',
      registers,
    }),
  }
}
