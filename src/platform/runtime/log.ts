import type { Secret } from '#kernel/secret.ts'

/** What may stand in a log line. A secret may: it prints as dots, whatever the line. */
type LogValue = string | number | boolean | null | undefined | Secret<unknown>
export type LogFields = Readonly<Record<string, LogValue>> & {
  readonly [name in 'time' | 'level' | 'message']?: never
}

export type Log = {
  info(message: string, fields?: LogFields): void
  error(message: string, fields: LogFields, cause: unknown): void
}

type Sink = { write(line: string): unknown }

/** One JSON object a line. A cause is written with its whole chain, for us alone. */
export function jsonLog(sink: Sink, now: () => Date): Log {
  const isoTime = isoTimes()
  const line = (level: string, message: string, fields: LogFields) => {
    let text = `{"time":"${isoTime(now())}","level":"${level}","message":${quoted(message)}`
    for (const name in fields) {
      const value = fields[name]
      if (value === undefined) continue
      text += `,"${name}":${written(value)}`
    }
    sink.write(`${text}}\n`)
  }
  return {
    info: (message, fields = {}) => line('info', message, fields),
    error: (message, fields, cause) => line('error', message, { ...fields, cause: chainOf(cause) }),
  }
}

function written(value: LogValue): string {
  if (typeof value === 'string') return quoted(value)
  return Number.isFinite(value) ? `${value}` : JSON.stringify(value)
}

const PLAIN = /^[\w .:/-]*$/

/** Ids and names are most of what is logged and need no escaping, which is most of the cost. */
const quoted = (text: string) => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text))

/** Lines of one millisecond have the same time. */
function isoTimes(): (at: Date) => string {
  let [last_ms, last] = [Number.NaN, '']
  return (at) => {
    const ms = at.getTime()
    if (ms !== last_ms) [last_ms, last] = [ms, at.toISOString()]
    return last
  }
}

/**
 * Lines of one turn of the event loop go out in one write: a system call for every request would
 * cost more than the line itself. Whoever ends the process flushes what is held.
 */
export function bufferedSink(sink: Sink): Sink & { flush(): void } {
  let held = ''
  const flush = () => {
    if (held === '') return
    const lines = held
    held = ''
    sink.write(lines)
  }
  return {
    flush,
    write: (line) => {
      if (held === '') setImmediate(flush)
      held += line
    },
  }
}

export const silentLog: Log = { info: () => undefined, error: () => undefined }

function chainOf(cause: unknown): string {
  const parts: string[] = []
  let next = cause
  for (let depth = 0; next !== undefined && depth < 5; depth += 1) {
    parts.push(next instanceof Error ? (next.stack ?? next.message) : String(next))
    next = next instanceof Error ? next.cause : undefined
  }
  return parts.join('\ncaused by: ')
}
