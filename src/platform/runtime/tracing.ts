import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from './clock.ts'
import type { Random } from './random.ts'

/** Only names, codes and whole numbers: never card numbers, bearers, bodies, URLs or SQL values. */
export type Attributes = Readonly<Record<string, string | number>>

export type SpanKind = 'internal' | 'server' | 'client'

/** A finished piece of work, as a trace shows it. */
export type FinishedSpan = {
  trace_id: string
  span_id: string
  parent_span_id: string | null
  name: string
  kind: SpanKind
  start_ms: number
  duration_ms: number
  attributes: Attributes
  is_error: boolean
}

export type SpanContext = { trace_id: string; span_id: string }

export type Span = SpanContext & { end(result?: SpanResult): void }
type SpanResult = { attributes?: Attributes; is_error?: boolean }

type SpanOptions = {
  kind?: SpanKind
  attributes?: Attributes
  /** Null begins a new trace; absent: the span that this work is part of. */
  parent?: SpanContext | null
}

export type Tracer = {
  startSpan(name: string, options?: SpanOptions): Span
  /** Spans that the work starts are children of this one. */
  runWithin<Value>(span: SpanContext, work: () => Value): Value
  /** One span for a promise; a rejection marks it as failed. */
  trace<Value>(name: string, options: SpanOptions, work: () => Promise<Value>): Promise<Value>
}

type TracerDependencies = { clock: Clock; random: Random; onEnd(span: FinishedSpan): void }

export function makeTracer({ clock, random, onEnd }: TracerDependencies): Tracer {
  const current = new AsyncLocalStorage<SpanContext>()
  const newId = (bytes: number) => Buffer.from(random.bytes(bytes)).toString('hex')
  const startSpan: Tracer['startSpan'] = (name, options = {}) => {
    const { kind = 'internal', parent = current.getStore() ?? null } = options
    const trace_id = parent?.trace_id ?? newId(16)
    const span_id = newId(8)
    const start_ms = clock.wall().getTime()
    const started = clock.monotonic()
    const end = ({ attributes, is_error = false }: SpanResult = {}) =>
      onEnd({
        trace_id,
        span_id,
        parent_span_id: parent?.span_id ?? null,
        name,
        kind,
        start_ms,
        duration_ms: clock.monotonic() - started,
        attributes: { ...options.attributes, ...attributes },
        is_error,
      })
    return { trace_id, span_id, end }
  }
  const runWithin: Tracer['runWithin'] = (span, work) => current.run(span, work)
  const trace: Tracer['trace'] = async (name, options, work) => {
    const span = startSpan(name, options)
    try {
      const value = await runWithin(span, work)
      span.end()
      return value
    } catch (cause) {
      span.end({ is_error: true })
      throw cause
    }
  }
  return { startSpan, runWithin, trace }
}

/** The caller's span in a traceparent header (W3C Trace Context); null if it has none. */
export function parseTraceparent(header: string | undefined): SpanContext | null {
  const [, trace_id = '', span_id = ''] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(header ?? '') ?? []
  const isValid = /[1-9a-f]/.test(trace_id) && /[1-9a-f]/.test(span_id)
  return isValid ? { trace_id, span_id } : null
}
