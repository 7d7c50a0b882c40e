import { type LoggerOptions, pino } from 'pino'
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

type Sink = { write(line: string): void }

/** One JSON object per line; errors are logged with their chain of causes. */
export function jsonLog(sink: Sink, now: () => Date, fields_of_all: LogFields = {}): Log {
  const options: LoggerOptions = {
    base: fields_of_all,
    messageKey: 'message',
    timestamp: () => `,"time":"${now().toISOString()}"`,
    formatters: { level: (level) => ({ level }) },
  }
  const logger = pino(options, sink)
  return {
    info: (message, fields = {}) => logger.info(fields, message),
    error: (message, fields, cause) =>
      logger.error({ ...fields, cause: causeChain(cause) }, message),
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
