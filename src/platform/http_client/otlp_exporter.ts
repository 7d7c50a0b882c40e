import type { Clock } from '#platform/runtime/clock.ts'
import type { Attributes, FinishedSpan, SpanKind } from '#platform/runtime/tracing.ts'
import { nodeFetch } from './node_fetch.ts'

const FLUSH_EVERY_MS = 2_000
const BATCH_MAX = 512
/** A collector that is down must not fill the memory: the newest spans are dropped. */
const WAITING_MAX = 4_096
const TIMEOUT_MS = 10_000

type ExporterOptions = {
  endpoint: string
  service_name: string
  version: string
  headers: Readonly<Record<string, string>>
  clock: Clock
  /** Called once per outage: traces are optional. */
  onFailure(cause: unknown): void
}

export type SpanExporter = { add(span: FinishedSpan): void; stop(): Promise<void> }

/** Sends spans to a collector over OTLP/HTTP with JSON, one batch at a time. */
export function startOtlpExporter(options: ExporterOptions): SpanExporter {
  const { clock, onFailure } = options
  const fetch = nodeFetch(TIMEOUT_MS)
  const waiting: FinishedSpan[] = []
  let sending: Promise<void> | null = null
  let hasFailed = false
  const sendBatch = async () => {
    const batch = waiting.splice(0, BATCH_MAX)
    const body = JSON.stringify(exportRequest(options, batch))
    const headers = { ...options.headers, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body, redirect: 'error' } as const
    try {
      const { status, body: reply } = await fetch(`${options.endpoint}/v1/traces`, init)
      for await (const _ of reply ?? []);
      if (status >= 300) throw new Error(`the collector responded with ${status}`)
      hasFailed = false
    } catch (cause) {
      if (!hasFailed) onFailure(cause)
      hasFailed = true
    }
  }
  const flush = (): Promise<void> => {
    if (sending === null && waiting.length > 0) {
      sending = sendBatch().finally(() => {
        sending = null
      })
    }
    return sending ?? Promise.resolve()
  }
  const cancel = clock.every(FLUSH_EVERY_MS, () => void flush())
  return {
    add: (span) => {
      if (waiting.length < WAITING_MAX) waiting.push(span)
      if (waiting.length === BATCH_MAX) void flush()
    },
    stop: async () => {
      cancel()
      for (let left = WAITING_MAX / BATCH_MAX + 1; left > 0 && waiting.length > 0; left--) {
        await flush()
      }
      await sending
    },
  }
}

const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 }

/** ExportTraceServiceRequest of the OTLP specification, as JSON. */
function exportRequest(options: ExporterOptions, spans: readonly FinishedSpan[]): object {
  const resource = { 'service.name': options.service_name, 'service.version': options.version }
  return {
    resourceSpans: [
      {
        resource: { attributes: keyValues(resource) },
        scopeSpans: [{ scope: { name: 'florin' }, spans: spans.map(otlpSpan) }],
      },
    ],
  }
}

function otlpSpan(span: FinishedSpan): object {
  const start_ns = BigInt(span.start_ms) * 1_000_000n
  const end_ns = start_ns + BigInt(Math.max(0, Math.round(span.duration_ms * 1e6)))
  return {
    traceId: span.trace_id,
    spanId: span.span_id,
    ...(span.parent_span_id !== null && { parentSpanId: span.parent_span_id }),
    name: span.name,
    kind: KINDS[span.kind],
    startTimeUnixNano: String(start_ns),
    endTimeUnixNano: String(end_ns),
    attributes: keyValues(span.attributes),
    status: span.is_error ? { code: 2 } : {},
  }
}

function keyValues(attributes: Attributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    // 64-bit integers are strings in the JSON of OTLP.
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }))
}
