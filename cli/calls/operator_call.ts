import type { Command } from 'commander'
import { UsageError } from '#cli/exit_codes.ts'
import { connectionOf } from '#cli/profiles/connection.ts'
import { carrierOf, pathNames } from '#contract/operation.ts'
import { type OperatorCall, operator_calls } from '#main/operator_calls.ts'
import { type Listed, printAnswer, printPage } from './answer.ts'
import { columns } from './columns.ts'
import { commandOf, type Given } from './command.ts'
import { plainFieldsOf } from './flags.ts'
import { rawCall } from './raw_call.ts'

type Options = {
  json?: boolean
  server?: string
  profile?: string
  token?: string
  idempotency_key?: string
}

/** The command of each call, in the order of the operator's own contract. */
export const operatorCommands = (): Command[] => operator_calls.map(operatorCommand)

function operatorCommand(call: OperatorCall): Command {
  const description = `${call.summary} Needs the role ${call.role}.`
  const positional = pathNames(call.path)
  const example = `operator ${call.name}`
  const command = commandOf({ ...call, description, positional, example }, (given) =>
    ask(call, given),
  )
  if (call.method !== 'GET') {
    command.option('--idempotency_key <key>', 'makes a repeat harmless')
  }
  return command
    .helpGroup('What they ask and do:')
    .option('--json', 'print JSON')
    .option('--server <url>', 'where the programme is; FLORIN_URL serves too')
    .option('--profile <name>', 'a profile of `florin login`, for its address alone')
    .option('--token <token>', 'an operator token; FLORIN_OPERATOR_TOKEN serves too')
}

async function ask(call: OperatorCall, given: Given): Promise<void> {
  const { json = false, token, idempotency_key, ...options }: Options = given.options
  const key = token ?? process.env['FLORIN_OPERATOR_TOKEN']
  if (!key) {
    throw new UsageError(
      'Set FLORIN_OPERATOR_TOKEN or give --token: `florin operator create` makes one.',
    )
  }
  const { path, rest } = pathOf(call, given.input)
  const isQuery = carrierOf(call) === 'query'
  const search = isQuery ? searchOf(rest) : ''
  const answer = await rawCall<object>(
    await connectionOf({ ...options, key }),
    `${call.method} /operator/v1${path}${search}`,
    isQuery ? undefined : rest,
    idempotency_key === undefined ? {} : { 'idempotency-key': idempotency_key },
  )
  if (json || !('data' in answer)) return printAnswer(answer, json)
  printPage(answer as Listed, columnsOf(call))
}

function pathOf({ path }: OperatorCall, { ...rest }: Record<string, unknown>) {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const id = encodeURIComponent(String(rest[name]))
    delete rest[name]
    return id
  })
  return { path: filled, rest }
}

/** Several values of one filter are a list with commas, as everywhere. */
function searchOf(filters: Record<string, unknown>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(filters)) search.set(name, String(value))
  return search.size === 0 ? '' : `?${search}`
}

const COLUMNS_MAX = 6

/** A holder's list has chosen columns; others show what their rows begin with. */
function columnsOf({ name, output }: OperatorCall): readonly string[] {
  const chosen = columns[name as keyof typeof columns]
  if (chosen !== undefined) return [...chosen, 'account_id']
  return plainFieldsOf(output, 'data').slice(0, COLUMNS_MAX)
}
