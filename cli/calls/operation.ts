import { openAsBlob } from 'node:fs'
import type { Command } from 'commander'
import { addConnectionOptions } from '#cli/connection_options.ts'
import { type ConnectionOptions, clientFor, resolveConnection } from '#cli/profiles/connection.ts'
import { progressLine } from '#cli/progress.ts'
import type { CallOptions, Client, Listing, Page } from '#client/client.ts'
import { type OperationShape, pathNames } from '#contract/operation.ts'
import { columns } from './columns.ts'
import { buildCommand, type CommandInput } from './command.ts'
import { printLine, printPage, printResponse, printRows } from './output.ts'

type Options = ConnectionOptions & {
  json?: boolean
  all?: boolean
  file?: string
  idempotency_key?: string
  reveal_nonce?: string
}

type Row = Record<string, unknown>
type ClientMethod = (input: Row, options: CallOptions) => unknown

/** Builds the command of an operation. */
export function operationCommand(shape: OperationShape): Command {
  const positional = pathNames(shape.path)
  const command = buildCommand({ ...shape, positional }, (given) => call(shape, given))
  if (shape.paged) command.option('--all', 'fetch all pages; with --json, one row per line')
  if (shape.method === 'POST' || shape.method === 'PATCH') {
    command.option('--idempotency_key <key>', 'makes retries safe (default: a new key)')
  }
  if (shape.name === 'add_dispute_evidence') {
    command.option('--file <path>', 'path of the file to upload')
  }
  if (shape.name === 'reveal_pan') {
    command.option('--reveal_nonce <uuid>', shape.headers?.['Reveal-Nonce'])
  }
  return addConnectionOptions(command.option('--json', 'print JSON'))
}

async function call(shape: OperationShape, given: CommandInput): Promise<void> {
  const options: Options = given.options
  const client = clientFor(await resolveConnection(options))
  const method = client[shape.name as keyof Client] as ClientMethod
  const call_options: CallOptions = {
    idempotency_key: options.idempotency_key,
    ...(options.reveal_nonce && { headers: { 'Reveal-Nonce': options.reveal_nonce } }),
  }
  if (shape.paged)
    return list(shape, method(given.input, call_options) as Listing<Page<Row>>, options)
  const file = options.file === undefined ? {} : await openFile(options.file)
  const response = await method({ ...given.input, ...file }, call_options)
  printResponse(response, options.json ?? false)
}

async function list({ name }: OperationShape, listing: Listing<Page<Row>>, options: Options) {
  const table_columns = columns[name as keyof typeof columns] ?? ['id']
  if (!options.all) {
    const page = await listing
    if (options.json) return printResponse(page, true)
    return printPage(page, table_columns, ', or --all')
  }
  if (options.json) {
    for await (const row of listing) printLine(row)
    return
  }
  const rows: Row[] = []
  const progress = progressLine('Reading')
  for await (const row of listing) progress.update(`${rows.push(row)} rows`)
  progress.end()
  printRows(rows, table_columns)
}

async function openFile(path: string): Promise<Row> {
  const file = new File([await openAsBlob(path)], path.split(/[\\/]/).at(-1) ?? path)
  const progress = progressLine('Sending')
  const onProgress = ({ bytes_sent }: { bytes_sent: number }) => {
    if (bytes_sent >= file.size) progress.end()
    else progress.update(`${Math.floor((bytes_sent / file.size) * 100)} %`)
  }
  return { file, onProgress }
}
