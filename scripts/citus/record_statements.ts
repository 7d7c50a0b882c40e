import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'

/**
 * Loaded into every process of a test run (`node --import`). Writes each statement that this
 * process sends to PostgreSQL, once, into a file of its own.
 */
const folder = process.env['FLORIN_TEST_STATEMENTS']
if (folder !== undefined) record(join(folder, `${process.pid}.jsonl`))

function record(path: string): void {
  const seen = new Set<string>()
  const client = pg.Client.prototype as { query(...args: unknown[]): unknown }
  const send = client.query
  client.query = function (this: unknown, ...args: unknown[]) {
    const text = textOf(args[0])
    if (text !== null && !seen.has(text)) {
      seen.add(text)
      appendFileSync(path, `${JSON.stringify(text)}\n`)
    }
    return send.apply(this, args)
  }
}

function textOf(statement: unknown): string | null {
  if (typeof statement === 'string') return statement
  const { text } = statement as { text?: unknown }
  return typeof text === 'string' ? text : null
}
