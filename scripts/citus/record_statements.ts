import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { RecordedStatement } from './explain_statements.ts'

/**
 * Loaded into every process of a test run (`node --import`). Writes each statement that this
 * process sends as one of the service's roles, once, into a file of its own. Tests break books on
 * purpose as the owner of the tables.
 */
const folder = process.env['FLORIN_TEST_STATEMENTS']
if (folder !== undefined) record(join(folder, `${process.pid}.jsonl`))

type Sender = { query(...args: unknown[]): unknown; connectionParameters?: { options?: string } }

function record(path: string): void {
  const seen = new Set<string>()
  const client = pg.Client.prototype as unknown as Sender
  const send = client.query
  client.query = function (this: Sender, ...args: unknown[]) {
    const text = textOf(args[0])
    const options = this.connectionParameters?.options ?? ''
    if (text !== null && options.includes('-c role=')) {
      // The connection plans its statements once, for all parameters.
      const is_generic = options.includes('force_generic_plan')
      const line = JSON.stringify({ text, is_generic } satisfies RecordedStatement)
      if (!seen.has(line)) appendFileSync(path, `${line}\n`)
      seen.add(line)
    }
    return send.apply(this, args)
  }
}

function textOf(statement: unknown): string | null {
  if (typeof statement === 'string') return statement
  const { text } = statement as { text?: unknown }
  return typeof text === 'string' ? text : null
}
