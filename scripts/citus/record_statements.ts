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

type Parser = { parse(statement: { text: string }, ...more: unknown[]): unknown }
type Sender = {
  query(...args: unknown[]): unknown
  connection: Parser
  connectionParameters?: { options?: string }
}

function record(path: string): void {
  const seen = new Set<string>()
  /** The settings of connections that belong to the service's roles. */
  const options_of = new WeakMap<Parser, string>()
  const write = (connection: Parser, text: string) => {
    const options = options_of.get(connection)
    if (options === undefined) return
    // The connection plans its statements once, for all parameters.
    const is_generic = options.includes('force_generic_plan')
    const line = JSON.stringify({ text, is_generic } satisfies RecordedStatement)
    if (!seen.has(line)) appendFileSync(path, `${line}\n`)
    seen.add(line)
  }

  const client = pg.Client.prototype as unknown as Sender
  const send = client.query
  client.query = function (this: Sender, ...args: unknown[]) {
    const options = this.connectionParameters?.options ?? ''
    if (options.includes('-c role=')) options_of.set(this.connection, options)
    if (typeof args[0] === 'string') write(this.connection, args[0])
    return send.apply(this, args)
  }

  // Statements with parameters are parsed, also those of a pipeline, whose own text is empty.
  const connection = pg.Connection.prototype as unknown as Parser
  const parse = connection.parse
  connection.parse = function (this: Parser, ...args: Parameters<Parser['parse']>) {
    write(this, args[0].text)
    return parse.apply(this, args)
  }
}
