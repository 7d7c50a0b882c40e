import type { Secret } from '#kernel/secret.ts'

/** Secrets are allowed in log lines: they print as dots. */
type LogValue = string | number | boolean | null | undefined | Secret<unknown>
export type LogFields = Readonly<Record<string, LogValue>> & {
  readonly [name in 'time' | 'level' | 'message']?: never
}

export type Log = {
  info(message: string, fields?: LogFields): void
  error(message: string, fields: LogFields, cause: unknown): void
}

type Sink = { write(line: string): unknown }

/**
 * One JSON object per line; errors are logged with their chain of causes. Building the text by hand
 * takes a third of JSON.stringify's time, and every request is logged (`npm run bench -- http`).
 */
export function jsonLog(sink: Sink, now: () => Date): Log {
  const isoTime = makeIsoFormatter()
  const line = (level: string, message: string, fields: LogFields) => {
    let text = `{"time":"${isoTime(now())}","level":"${level}","message":${quote(message)}`
    for (const name in fields) {
      const value = fields[name]
      if (value === undefined) continue
      text += `,"${name}":${formatValue(value)}`
    }
    sink.write(`${text}}\n`)
  }
  return {
    info: (message, fields = {}) => line('info', message, fields),
    error: (message, fields, cause) =>
      line('error', message, { ...fields, cause: causeChain(cause) }),
  }
}

function formatValue(value: LogValue): string {
  if (typeof value === 'string') return quote(value)
  return Number.isFinite(value) ? `${value}` : JSON.stringify(value)
}

const PLAIN = /^[\w .:/-]*$/

/** Most values are ids and names, which need no escaping. */
const quote = (text: string) => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text))

/** Formats each millisecond once: toISOString takes longer than the rest of a line. */
function makeIsoFormatter(): (at: Date) => string {
  let [last_ms, last] = [Number.NaN, '']
  return (at) => {
    const ms = at.getTime()
    if (ms !== last_ms) [last_ms, last] = [ms, at.toISOString()]
    return last
  }
}

/**
 * Writes the lines of one turn of the event loop together: a system call per line would cost more
 * than the line itself. Call flush before the process ends.
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

function causeChain(cause: unknown): string {
  const parts: string[] = []
  let next = cause
  for (let depth = 0; next !== undefined && depth < 5; depth += 1) {
    parts.push(next instanceof Error ? (next.stack ?? next.message) : String(next))
    next = next instanceof Error ? next.cause : undefined
  }
  return parts.join('\ncaused by: ')
}
