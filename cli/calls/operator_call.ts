import type { Command } from 'commander'
import { UsageError } from '#cli/exit_codes.ts'
import { resolveConnection } from '#cli/profiles/connection.ts'
import { inputLocation, pathNames } from '#contract/operation.ts'
import { type OperatorCall, operator_calls } from '#main/operator_calls.ts'
import { columns } from './columns.ts'
import { buildCommand, type CommandInput } from './command.ts'
import { scalarFieldNames } from './flags.ts'
import { type ListResponse, printPage, printResponse } from './output.ts'
import { rawCall } from './raw_call.ts'

type Options = {
  json?: boolean
  server?: string
  profile?: string
  token?: string
  idempotency_key?: string
}

/** One command per operator call, in contract order. */
export const operatorCommands = (): Command[] => operator_calls.map(operatorCommand)

function operatorCommand(call: OperatorCall): Command {
  const description = `${call.summary} Requires the ${call.role} role.`
  const positional = pathNames(call.path)
  const example = `operator ${call.name}`
  const command = buildCommand({ ...call, description, positional, example }, (given) =>
    callOperator(call, given),
  )
  if (call.method !== 'GET') {
    command.option('--idempotency_key <key>', 'makes retries safe')
  }
  return command
    .helpGroup('Operator API:')
    .option('--json', 'print JSON')
    .option('--server <url>', 'server URL (or set FLORIN_URL)')
    .option('--profile <name>', 'profile saved by `florin login`; only its URL is used')
    .option('--token <token>', 'operator token (or set FLORIN_OPERATOR_TOKEN)')
}

async function callOperator(call: OperatorCall, given: CommandInput): Promise<void> {
  const { json = false, token, idempotency_key, ...options }: Options = given.options
  const key = token ?? process.env['FLORIN_OPERATOR_TOKEN']
  if (!key) {
    throw new UsageError(
      'No operator token. Set FLORIN_OPERATOR_TOKEN or pass --token. ' +
        '`florin operator create` creates one.',
    )
  }
  const { path, rest } = fillPath(call, given.input)
  const isQuery = inputLocation(call) === 'query'
  const search = isQuery ? buildQuery(rest) : ''
  const response = await rawCall<object>(
    await resolveConnection({ ...options, key }),
    `${call.method} /operator/v1${path}${search}`,
    isQuery ? undefined : rest,
    idempotency_key === undefined ? {} : { 'idempotency-key': idempotency_key },
  )
  if (json || !('data' in response)) return printResponse(response, json)
  printPage(response as ListResponse, columnsOf(call))
}

function fillPath({ path }: OperatorCall, { ...rest }: Record<string, unknown>) {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const id = encodeURIComponent(String(rest[name]))
    delete rest[name]
    return id
  })
  return { path: filled, rest }
}

/** Multiple values of one filter are joined with commas. */
function buildQuery(filters: Record<string, unknown>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(filters)) search.set(name, String(value))
  return search.size === 0 ? '' : `?${search}`
}

const COLUMNS_MAX = 6

/** Lists that customers also have use the same columns; others show their first fields. */
function columnsOf({ name, output }: OperatorCall): readonly string[] {
  const chosen = columns[name as keyof typeof columns]
  if (chosen !== undefined) return [...chosen, 'account_id']
  return scalarFieldNames(output, 'data').slice(0, COLUMNS_MAX)
}
