import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Clock } from './clock.ts'

const REQUEST_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Served to Prometheus at /metrics. */
export type Metrics = {
  registry: Registry
  /** The metrics of all processes of this node, in the text format of Prometheus. */
  text(): Promise<string>
  request_seconds: Histogram<'operation' | 'status'>
  problems: Counter<'operation' | 'code'>
  task_failures: Counter<'task'>
  card_messages: Counter<'mti' | 'code'>
  card_connections_refused: Counter<'reason'>
  pending_conversions: Counter
  held_refunds: Counter
  held_withdrawals: Counter
  webhook_attempts: Counter<'status'>
  clock_offset_seconds: Gauge
  rate_limits_shared: Gauge
  proof_findings: Gauge<'proof'>
  books_proven_at: Gauge
}

export function makeMetrics(clock: Pick<Clock, 'offset_ms'>): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix: 'florin_' })
  return {
    registry,
    text: () => registry.metrics(),
    request_seconds: new Histogram({
      name: 'florin_request_seconds',
      help: 'Request duration in seconds, by operation and status.',
      labelNames: ['operation', 'status'],
      buckets: REQUEST_BUCKETS_S,
      registers,
    }),
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
    held_withdrawals: new Counter({
      name: 'florin_held_withdrawals_total',
      help: 'Withdrawals that could not be sent or settled and await an operator.',
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
    proof_findings: new Gauge({
      name: 'florin_proof_findings',
      help: 'Objects for which a proof of the books does not hold, by proof. Expected: 0.',
      labelNames: ['proof'],
      registers,
    }),
    books_proven_at: new Gauge({
      name: 'florin_books_proven_timestamp_seconds',
      help: 'When the last run of the proofs ended; 0 before the first.',
      registers,
    }),
    clock_offset_seconds: new Gauge({
      name: 'florin_clock_offset_seconds',
      help: 'How far the clock of the service is ahead of real time.',
      registers,
      collect() {
        this.set(clock.offset_ms() / 1_000)
      },
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
