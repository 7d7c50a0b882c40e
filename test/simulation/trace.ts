import { createWriteStream } from 'node:fs'

/** Everything that happens, one JSON line per event, written as it happens. */
export type Trace = {
  path: string
  write(event: Readonly<Record<string, unknown>> & { what: string }): void
  close(): Promise<void>
}

export function openTrace(path: string): Trace {
  const stream = createWriteStream(path)
  const plain = (_name: string, value: unknown) =>
    typeof value === 'bigint' ? Number(value) : value
  const began = performance.now()
  return {
    path,
    write: (event) => {
      const at_ms = Math.round(performance.now() - began)
      stream.write(`${JSON.stringify({ at_ms, ...event }, plain)}\n`)
    },
    close: () => new Promise((resolve) => stream.end(resolve)),
  }
}
