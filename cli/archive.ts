import { access } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type pg from 'pg'
import { createArchive } from '#main/archive/create_archive.ts'
import type { Manifest } from '#main/archive/manifest.ts'
import { restoreArchive } from '#main/archive/restore_archive.ts'
import { verifyFolder } from '#main/archive/verify_archive.ts'
import type { Database } from '#platform/postgres/db.ts'
import { txOn } from '#platform/postgres/session.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import { sealFor } from '#platform/storage/key_seal.ts'
import { type Keys, loadKeys } from '#platform/storage/keys.ts'
import { readSettings, type Settings } from '#settings/settings.ts'
import { UsageError } from './exit_codes.ts'
import { withEachCell } from './with_database.ts'

const print = (line: string) => process.stdout.write(`${line}\n`)

export async function archiveCreate(folder: string, options: { months?: string }): Promise<void> {
  const months = readMonths(options.months)
  const keys = await openKeys(readSettings(process.env))
  await withEachCell((db, progress, settings) => {
    const report = (line: string) => {
      progress.clear()
      print(line)
    }
    return archiveCell(db, { settings, keys, to: resolve(folder), months, report })
  })
}

type CellInput = {
  settings: Settings
  keys: Keys
  to: string
  months: number | undefined
  report(line: string): void
}

function archiveCell(db: Database, input: CellInput): Promise<void> {
  const { settings, keys, to, report } = input
  const months = input.months ?? settings.retention.history_months
  return db.connection(async (client) => {
    await client.query('set statement_timeout = 0; set lock_timeout = 0')
    const now = await serviceTime(client)
    const made = await createArchive({
      session: txOn(client),
      keys,
      cell: settings.cell,
      to,
      before: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months)),
      now,
      report,
    })
    const none = `Cell ${settings.cell} has no whole month that is older than ${months} months.`
    report(made === null ? none : `Archived in ${made}. Copy it to another place.`)
  })
}

/** The sandbox's clock may be ahead. */
async function serviceTime(client: pg.ClientBase): Promise<Date> {
  const { rows } = await client.query<{ offset_ms: bigint }>('select offset_ms from clock')
  return new Date(systemClock().now().getTime() + Number(rows[0]?.offset_ms ?? 0))
}

/** Like the setting: reports and statements need a year and a month. */
const MONTHS_MIN = 13

function readMonths(option: string | undefined): number | undefined {
  if (option === undefined) return undefined
  const months = Number(option)
  if (Number.isInteger(months) && months >= MONTHS_MIN) return months
  throw new UsageError(`--months must be at least ${MONTHS_MIN} (got "${option}").`)
}

/** The key file signs manifests. A new one would sign nothing that exists. */
async function openKeys({ key_file, key_token }: Settings): Promise<Keys> {
  await access(key_file).catch(() => {
    throw new ConfigError(`There is no key file at ${key_file}. Archives are signed with it.`)
  })
  return loadKeys(key_file, systemRandom, sealFor(key_token, systemRandom))
}

export async function archiveVerify(folder: string): Promise<void> {
  const keys = await openKeys(readSettings(process.env))
  const archives = await verifyFolder(resolve(folder), keys)
  for (const { manifest } of archives) print(describe(manifest))
  print(archives.length === 1 ? 'The archive is sound.' : 'The archives are sound.')
}

const describe = ({ cell, until, files }: Manifest): string =>
  `Cell ${cell} until ${until.slice(0, 10)}: ` +
  files.map(({ table, rows }) => `${rows} ${table}`).join(', ')

export async function archiveRestore(folder: string, { to }: { to: string }): Promise<void> {
  const keys = await openKeys(readSettings(process.env))
  const url = to === '-' ? (await text(process.stdin)).trim() : to
  const schema = await restoreArchive({ folder: resolve(folder), keys, to: url })
  print(`Restored into the schema ${schema}.`)
}
