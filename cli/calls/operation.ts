import { openAsBlob } from 'node:fs'
import type { Command } from 'commander'
import { addConnectionOptions } from '#cli/connection_options.ts'
import { type ConnectionOptions, clientFor, resolveConnection } from '#cli/profiles/connection.ts'
import { type Progress, progressBar, withProgress } from '#cli/progress.ts'
import { requireFile } from '#cli/require_file.ts'
import type { CallOptions, Client, Listing, Page } from '#client/client.ts'
import { type OperationShape, pathNames } from '#contract/operation.ts'
import { columns, defaultColumns } from './columns.ts'
import { buildCommand, type CommandInput } from './command.ts'
import { addYesOption, confirmCall } from './confirm.ts'
import { addAllOption, addListOptions, type ListOptions, showList } from './list.ts'
import { printResponse } from './output.ts'

type Options = ConnectionOptions &
  ListOptions & { yes?: boolean; file?: string; idempotency_key?: string; reveal_nonce?: string }

type Row = Record<string, unknown>
type ClientMethod = (input: Row, options: CallOptions) => unknown

/** Calls that cannot be undone ask first. */
const irreversible: ReadonlySet<string> = new Set([
  'cancel_card',
  'delete_webhook',
  'disable_2fa',
  'replace_card',
  'revoke_api_key',
  'revoke_session',
  'withdraw',
])

/** Builds the command of an operation. */
export function operationCommand(shape: OperationShape): Command {
  const positional = pathNames(shape.path)
  const command = buildCommand({ ...shape, positional }, (given) => call(shape, given))
  if (shape.paged) {
    addAllOption(command)
    addListOptions(command)
  }
  if (irreversible.has(shape.name)) addYesOption(command)
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
  if (irreversible.has(shape.name)) await confirmCall(shape.summary, given.input, options)
  const client = clientFor(await resolveConnection(options))
  const method = client[shape.name as keyof Client] as ClientMethod
  const call_options: CallOptions = {
    idempotency_key: options.idempotency_key,
    ...(options.reveal_nonce && { headers: { 'Reveal-Nonce': options.reveal_nonce } }),
  }
  if (shape.paged) {
    const listing = () => method(given.input, call_options) as Listing<Page<Row>>
    const load = () => withProgress('Waiting for the server', async () => listing())
    const names = columns[shape.name as keyof typeof columns] ?? defaultColumns(shape.output)
    return showList({ load, rows: listing, columns: names, output: shape.output }, options)
  }
  const response = await withProgress('Waiting for the server', async (progress) => {
    const file = options.file === undefined ? {} : await openFile(options.file, progress)
    return method({ ...given.input, ...file }, call_options)
  })
  printResponse(response, options.json ?? false)
}

async function openFile(path: string, progress: Progress): Promise<Row> {
  await requireFile('file', path)
  const file = new File([await openAsBlob(path)], path.split(/[\\/]/).at(-1) ?? path)
  const onProgress = ({ bytes_sent }: { bytes_sent: number }) =>
    progress.update(progressBar(bytes_sent, file.size))
  return { file, onProgress }
}
