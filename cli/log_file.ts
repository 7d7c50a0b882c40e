import { openSync, writeSync } from 'node:fs'
import { mkdir, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { bufferedSink, jsonLog, type Log, type LogFields } from '#platform/runtime/log.ts'

export const LOG_FILE = 'florin.log'
const BYTES_MAX = 20_000_000

/** The log of a service in a terminal. A start replaces the previous file if it is large. */
export async function openLogFile(
  data_dir: string,
  now: () => Date,
  fields: LogFields = {},
): Promise<Log> {
  await mkdir(data_dir, { recursive: true })
  const path = join(data_dir, LOG_FILE)
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  )
  if (size > BYTES_MAX) await rename(path, `${path}.1`)
  return appendLogFile(data_dir, now, fields)
}

/** Several processes may append to the file. */
export function appendLogFile(data_dir: string, now: () => Date, fields: LogFields): Log {
  const file = openSync(join(data_dir, LOG_FILE), 'a', 0o600)
  const sink = bufferedSink({ write: (lines) => void writeSync(file, lines) })
  process.on('exit', sink.flush)
  return jsonLog(sink, now, fields)
}
