import { openAsBlob } from 'node:fs'
import type { Command } from 'commander'
import { type ConnectionOptions, clientFor, connectionOf } from '#cli/profiles/connection.ts'
import { progressLine } from '#cli/progress.ts'
import type { CallOptions, Client, Listing, Page } from '#client/client.ts'
import { type OperationShape, pathNames } from '#contract/operation.ts'
import { printAnswer, printLine, printPage, printRows } from './answer.ts'
import { columns } from './columns.ts'
import { commandOf, type Given } from './command.ts'

type Options = ConnectionOptions & {
  json?: boolean
  all?: boolean
  file?: string
  idempotency_key?: string
  reveal_nonce?: string
}

type Row = Record<string, unknown>
type Method = (input: Row, options: CallOptions) => unknown

/** The command of an operation: its name, its ids as arguments, its fields as flags. */
export function operationCommand(shape: OperationShape): Command {
  const positional = pathNames(shape.path)
  const command = commandOf({ ...shape, positional }, (given) => call(shape, given))
  if (shape.paged) command.option('--all', 'every page; with --json one row a line')
  if (shape.method === 'POST' || shape.method === 'PATCH') {
    command.option('--idempotency_key <key>', 'makes a repeat harmless; one is made without it')
  }
  if (shape.name === 'add_dispute_evidence') {
    command.option('--file <path>', 'the file, streamed however large it is')
  }
  if (shape.name === 'reveal_pan') {
    command.option('--reveal_nonce <uuid>', shape.headers?.['Reveal-Nonce'])
  }
  return withConnection(command)
}

export function withConnection(command: Command): Command {
  return command
    .option('--json', 'print JSON')
    .option('--server <url>', 'where the programme is; FLORIN_URL serves too')
    .option('--key <key>', 'an API key or another bearer; FLORIN_KEY serves too')
    .option('--profile <name>', 'a profile of `florin login`')
}

async function call(shape: OperationShape, given: Given): Promise<void> {
  const options: Options = given.options
  const client = clientFor(await connectionOf(options))
  const method = client[shape.name as keyof Client] as Method
  const sent: CallOptions = {
    idempotency_key: options.idempotency_key,
    ...(options.reveal_nonce && { headers: { 'Reveal-Nonce': options.reveal_nonce } }),
  }
  if (shape.paged) return list(shape, method(given.input, sent) as Listing<Page<Row>>, options)
  const file = options.file === undefined ? {} : await fileAt(options.file)
  const answer = await method({ ...given.input, ...file }, sent)
  printAnswer(answer, options.json ?? false)
}

async function list({ name }: OperationShape, listing: Listing<Page<Row>>, options: Options) {
  const shown = columns[name as keyof typeof columns] ?? ['id']
  if (!options.all) {
    const page = await listing
    if (options.json) return printAnswer(page, true)
    return printPage(page, shown, ', or --all')
  }
  if (options.json) {
    for await (const row of listing) printLine(row)
    return
  }
  const rows: Row[] = []
  const progress = progressLine('Reading')
  for await (const row of listing) progress.tell(`${rows.push(row)} rows`)
  progress.end()
  printRows(rows, shown)
}

async function fileAt(path: string): Promise<Row> {
  const file = new File([await openAsBlob(path)], path.split(/[\\/]/).at(-1) ?? path)
  const progress = progressLine('Sending')
  const onProgress = ({ bytes_sent }: { bytes_sent: number }) => {
    if (bytes_sent >= file.size) progress.end()
    else progress.tell(`${Math.floor((bytes_sent / file.size) * 100)} %`)
  }
  return { file, onProgress }
}
