import { text } from 'node:stream/consumers'
import { cancelMove, confirmMove } from '#main/cell_move/end_move.ts'
import { moveCell } from '#main/cell_move/move_cell.ts'
import { runningPostgresUrl } from '#platform/embedded_postgres/running.ts'
import { DEFAULT_SCHEMA, inSchema, schemaOf } from '#platform/postgres/schema.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import { sealFor } from '#platform/storage/key_seal.ts'
import { loadKeys } from '#platform/storage/keys.ts'
import { readSettings, type Settings } from '#settings/settings.ts'
import { UsageError } from './exit_codes.ts'
import { startProgress } from './progress.ts'

type Options = {
  to?: string
  toAccount?: string
  admin?: string
  from?: string
  cancel?: boolean
  confirm?: boolean
}

/** Moves a cell to another server, or ends its move. Each step is a line on stdout. */
export async function cellsMove(number: string, options: Options): Promise<void> {
  requireOneAction(options)
  const settings = readSettings(process.env)
  const { url, account_url } = await databaseOf(settings, number)
  const { key_file, key_token } = settings
  const keys = await loadKeys(key_file, systemRandom, sealFor(key_token, systemRandom))
  const cell = Number(number)
  const requireUrl = urlReader(schemaOf(url))
  const from = options.from === undefined ? url : requireUrl('--from', options.from)
  const progress = startProgress(`Moving cell ${cell}:`)
  const report = (line: string) => {
    progress.clear()
    process.stdout.write(`${line}\n`)
  }
  try {
    const admin = options.admin === undefined ? undefined : requireUrl('--admin', options.admin)
    if (options.cancel) return await cancelMove({ cell, keys, from, admin, report })
    if (options.confirm) return await confirmMove({ cell, keys, from, admin, report })
    const to = await readTarget(options, account_url !== null, requireUrl)
    const onProgress = process.stderr.isTTY ? progress.update : everyTenSeconds(report)
    await moveCell({ cell, keys, from, to, admin: admin ?? to.url, report, onProgress })
  } finally {
    progress.end()
  }
}

const LINE_EVERY_MS = 10_000

/** In a pipe or a log, progress is one line every 10 s. */
function everyTenSeconds(report: (line: string) => void): (line: string) => void {
  let next_ms = Date.now() + LINE_EVERY_MS
  return (line) => {
    if (Date.now() < next_ms) return
    next_ms = Date.now() + LINE_EVERY_MS
    report(`… ${line}`)
  }
}

function requireOneAction({ to, cancel, confirm }: Options): void {
  const chosen = [to !== undefined, cancel === true, confirm === true].filter(Boolean)
  if (chosen.length === 1) return
  throw new UsageError('Give one of --to <url>, --cancel and --confirm.')
}

async function databaseOf(settings: Settings, number: string) {
  const { database_url, account_database_url, data_dir, more_cells } = settings
  if (number === '0') {
    const url = database_url?.open() ?? (await runningPostgresUrl(data_dir))
    if (url === null) {
      throw new ConfigError(
        'The embedded database is not running. Start the service, or set FLORIN_DATABASE_URL.',
      )
    }
    return { url, account_url: account_database_url?.open() ?? null }
  }
  const cell = more_cells.find((one) => String(one.number) === number)
  if (cell === undefined) {
    throw new ConfigError(`There is no cell ${number}. Run \`florin cells list\`.`)
  }
  return { url: cell.url.open(), account_url: cell.account_url?.open() ?? null }
}

/** A URL on the command line is visible to other users of the machine, so `-` reads it. */
async function readTarget(
  { to = '', toAccount }: Options,
  hasAccountLogin: boolean,
  requireUrl: UrlReader,
) {
  if (hasAccountLogin && toAccount === undefined) {
    throw new UsageError('The cell has an account_url, so give the new one with --to-account.')
  }
  const url = to === '-' ? (await text(process.stdin)).trim() : to
  return {
    url: requireUrl('--to', url),
    account_url: toAccount === undefined ? null : requireUrl('--to-account', toAccount),
  }
}

type UrlReader = (option: string, url: string) => string

/** Replication finds tables by their names, which contain the schema: the copy has the same. */
function urlReader(schema: string | null): UrlReader {
  return (option, url) => {
    if (!/^postgres(ql)?:\/\/[^/?]+\/[^/?]+/.test(url)) {
      throw new UsageError(
        `${option} must be an address such as postgres://login:…@host:5432/florin.`,
      )
    }
    const named = inSchema(url, schema)
    if (named !== null) return named
    throw new UsageError(
      `${option} has options without the cell's schema. Add "-c search_path=` +
        `${schema ?? DEFAULT_SCHEMA}" to them.`,
    )
  }
}
