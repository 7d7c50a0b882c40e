import type { Command } from 'commander'
import { UsageError } from '#cli/exit_codes.ts'
import { resolveConnection } from '#cli/profiles/connection.ts'
import { withRetries } from '#client/retries.ts'
import { inputLocation, pathNames, takesIdempotencyKey } from '#contract/operation.ts'
import type { OperatorOperation } from '#contract/operator/operation.ts'
import { operator_operations } from '#contract/operator/operations.ts'
import { operator_sign_in } from '#contract/operator/system.ts'
import { columns, defaultColumns } from './columns.ts'
import { buildCommand, type CommandInput } from './command.ts'
import { addYesOption, confirmCall } from './confirm.ts'
import { addAllOption, addListOptions, type ListOptions, type ListPage, showList } from './list.ts'
import { printResponse, type Row } from './output.ts'
import { rawCall } from './raw_call.ts'

type Options = ListOptions & {
  yes?: boolean
  server?: string
  profile?: string
  token?: string
  idempotency_key?: string
}

type OperatorCall = OperatorOperation | typeof operator_sign_in

/** One command per call of the operator API, in contract order. */
export const operatorCommands = (): Command[] =>
  [operator_sign_in, ...Object.values<OperatorOperation>(operator_operations)]
    .filter(({ name }) => name !== 'operator_get_evidence')
    .map(operatorCommand)

/** Calls that move money or cannot be undone ask first. */
const irreversible: ReadonlySet<string> = new Set([
  'operator_announce_maintenance',
  'operator_approve_refund',
  'operator_approve_withdrawal',
  'operator_cancel_card',
  'operator_close_dispute',
  'operator_convert_clearing',
  'operator_refund_deposit',
  'operator_refuse_refund',
  'operator_refuse_withdrawal',
  'operator_release_deposit',
  'operator_revoke_grant',
  'operator_set_kill_switch',
  'operator_suspend_account',
])

/** The field that continues a list after a row of its last page. */
function pageFieldOf({ input }: OperatorCall): 'cursor' | 'before' | null {
  if ('cursor' in input.properties) return 'cursor'
  return 'before' in input.properties ? 'before' : null
}

const isList = ({ output }: OperatorCall): boolean =>
  'properties' in output && 'data' in (output.properties as object)

/** `operator_freeze_card` is the command `florin operator freeze_card`. */
const commandNameOf = ({ name }: OperatorCall) => name.replace(/^operator_/, '')

const roleNote = ({ access }: OperatorCall) =>
  access === 'anyone' ? '' : ` Requires the ${access.operator} role.`

function operatorCommand(operation: OperatorCall): Command {
  const name = commandNameOf(operation)
  const description = operation.summary + roleNote(operation)
  const positional = pathNames(operation.path)
  const example = `operator ${name}`
  const command = buildCommand({ ...operation, name, description, positional, example }, (given) =>
    callOperator(operation, given),
  )
  if (takesIdempotencyKey(operation)) {
    command.option('--idempotency_key <key>', 'makes retries safe')
  }
  if (irreversible.has(operation.name)) addYesOption(command)
  if (pageFieldOf(operation) !== null) addAllOption(command)
  if (isList(operation)) addListOptions(command)
  return command
    .helpGroup('Operator API:')
    .option('--json', 'print JSON')
    .option('--server <url>', 'server URL (or set FLORIN_URL)')
    .option('--profile <name>', 'profile saved by `florin login`; only its URL is used')
    .option('--token <token>', 'operator token (or set FLORIN_OPERATOR_TOKEN)')
}

async function callOperator(operation: OperatorCall, given: CommandInput): Promise<void> {
  const { token, idempotency_key, ...options }: Options = given.options
  const key = token ?? process.env['FLORIN_OPERATOR_TOKEN']
  if (!key) {
    throw new UsageError(
      'No operator token. Set FLORIN_OPERATOR_TOKEN or pass --token. ' +
        '`florin operator create` creates one.',
    )
  }
  if (irreversible.has(operation.name)) await confirmCall(operation.summary, given.input, options)
  const connection = await resolveConnection({ ...options, key })
  const { path, rest } = fillPath(operation, given.input)
  const isQuery = inputLocation(operation) === 'query'
  const load = (page: Record<string, string> = {}) =>
    rawCall<ListPage>(
      connection,
      `${operation.method} /operator/v1${path}${isQuery ? buildQuery({ ...rest, ...page }) : ''}`,
      isQuery ? undefined : rest,
      idempotency_key === undefined ? {} : { 'idempotency-key': idempotency_key },
    )
  if (!isList(operation)) return printResponse(await load(), options.json ?? false)
  const { output } = operation
  const field = pageFieldOf(operation)
  const size = { limit: String(rest['limit'] ?? LARGEST_PAGE) }
  const loadNext: PageLoader = (page) => withRetries(() => load({ ...size, ...page }), PAGE_RETRIES)
  const rows = field === null ? {} : { rows: () => allRows(loadNext, field) }
  await showList({ load: () => load(), ...rows, columns: columnsOf(operation), output }, options)
}

const LARGEST_PAGE = 100
/** An export of many pages reaches the rate limit, and must not end in the middle. */
const PAGE_RETRIES = { isRepeatable: true, retries_max: 5, wait_max_ms: 60_000, signal: undefined }

type PageLoader = (page: Record<string, string>) => Promise<ListPage>

async function* allRows(load: PageLoader, field: 'cursor' | 'before'): AsyncGenerator<Row> {
  let from: Record<string, string> = {}
  for (;;) {
    const { data, next_cursor = data.at(-1)?.['id'] } = await load(from)
    yield* data
    if (typeof next_cursor !== 'string') return
    from = { [field]: next_cursor }
  }
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

/** The log names the operator, the action and its object. */
const action_columns = ['operator.name', 'action', 'resource.id', 'created_at', 'ip', 'id']

/** Lists that customers also have use the same columns and the account. */
function columnsOf(operation: OperatorCall): readonly string[] {
  if (operation.name === 'operator_list_actions') return action_columns
  const chosen = columns[commandNameOf(operation) as keyof typeof columns]
  if (chosen === undefined) return defaultColumns(operation.output)
  return [...chosen.filter((name) => name !== 'id'), 'account_id', 'id']
}
