import { setTimeout as wait } from 'node:timers/promises'
import { takeArchiveLock } from '#domain/archive/archive_lock.ts'
import { findInterrupted } from '#domain/archive/leaving_store.ts'
import {
  type CellMove,
  findCellMove,
  saveCellMove,
  waitForSwitch,
} from '#domain/directory/cell_move_store.ts'
import { proveBooks } from '#main/audit.ts'
import type { DatabaseUrls } from '#platform/postgres/database_address.ts'
import { placeOf } from '#platform/postgres/database_url.ts'
import { openDatabase } from '#platform/postgres/db.ts'
import { pendingMigrations } from '#platform/postgres/migrate.ts'
import { openSession, type Session } from '#platform/postgres/session.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import type { Keys } from '#platform/storage/keys.ts'
import { compareTables, splitBySize, type TableLists } from './compare_tables.ts'
import { openUrls, sealUrls } from './sealed_urls.ts'
import { openAdministrator, requireNoOtherCells, setReadOnly } from './servers.ts'
import {
  dropSlot,
  publish,
  readLag,
  requireLogical,
  requirePlain,
  requireSlot,
  slotOf,
} from './source.ts'
import { switchCell } from './switch_cell.ts'
import { SwitchTooSlow } from './switch_deadline.ts'
import {
  confirmWhenFlushed,
  createTables,
  enableSubscription,
  hasSubscription,
  readCopyProgress,
  requireEmpty,
  requireOtherServer,
  subscribe,
  unsubscribe,
} from './target.ts'

export type MoveInput = {
  cell: number
  keys: Keys
  /** The login of an administrator on the old server, at the address the new one connects to. */
  from: string
  /** For the nodes. */
  to: DatabaseUrls
  /** The login of an administrator on the new server. */
  admin: string
  /** A sentence for each step. */
  report(line: string): void
  /** Overwrites itself while a step lasts. */
  onProgress(text: string): void
}

/** The switch is short once the new server is less than this behind. */
const LAG_BYTES_MAX = 1024 * 1024
const POLL_MS = 250

/** The tables that are compared while the cell waits; another attempt compares a quarter. */
const COMPARED_BYTES_MAX = 32 * 1024 * 1024
const SWITCH_ATTEMPTS = 5
/** The cell works in between. */
const SWITCH_PAUSE_MS = 2_000

type Servers = { source: Session; target: Session }

/** Moves a cell to another server, or continues a move that was interrupted. */
export async function moveCell(input: MoveInput): Promise<void> {
  try {
    await moveBetween(input)
  } catch (cause) {
    // Faults of a database have a code; a fault of ours must show where it is.
    const isOurs = !(cause instanceof Error) || !('code' in cause)
    if (isOurs || cause instanceof ConfigError) throw cause
    throw new ConfigError(
      `The move of cell ${input.cell} was interrupted: ${cause.message}. Run the command again ` +
        'to continue.',
    )
  }
}

async function moveBetween(input: MoveInput): Promise<void> {
  const source = await openAdministrator(input.from, 'old')
  try {
    const move = await findCellMove(source)
    if (move === undefined) await excludeArchives(source, input)
    requireSameMove(input, move)
    if (move?.state !== 'moved') await requireReady(source, input)
    const target = await openAdministrator(input.admin, 'new')
    try {
      if (move?.state !== 'moved') await copyAndSwitch(input, { source, target })
      await finish(input, { source, target })
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

function requireSameMove({ cell, keys, to }: MoveInput, move: CellMove | undefined): void {
  if (move === undefined) return
  if (move.state === 'arriving') {
    throw new ConfigError(`The database of cell ${cell} in the settings is a copy not in use yet.`)
  }
  if (move.state === 'arrived') {
    throw new ConfigError(
      `The last move of cell ${cell} is not confirmed. Run \`florin cells move ${cell} ` +
        '--confirm` first.',
    )
  }
  const { url } = openUrls(keys, cell, move)
  if (placeOf(url) === placeOf(to.url)) return
  throw new ConfigError(
    move.state === 'moved'
      ? `Cell ${cell} has been moved to ${placeOf(url)}. Name that address in the settings.`
      : `Cell ${cell} is being moved to ${placeOf(url)}. To end that, run ` +
          `\`florin cells move ${cell} --cancel\`.`,
  )
}

/** No archive may run until the move is recorded: detached months would not be copied. */
async function excludeArchives(source: Session, { cell }: MoveInput): Promise<void> {
  if (await takeArchiveLock(source)) return
  throw new ConfigError(`Another command is archiving or moving cell ${cell}.`)
}

async function requireReady(source: Session, { from, cell }: MoveInput): Promise<void> {
  await requirePlain(source, cell)
  await requireNoOtherCells(source, placeOf(from))
  await requireLogical(source)
  const db = openDatabase(from, { pool_size: 1 })
  try {
    const pending = await pendingMigrations(db)
    if (pending.length > 0) {
      throw new ConfigError(`Cell ${cell} has pending migrations. Run \`florin migrate\` first.`)
    }
    if ((await findInterrupted(db)) === null) return
    throw new ConfigError(
      `An archive of cell ${cell} was interrupted, and its months would not be copied. Run ` +
        '`florin archive create` first.',
    )
  } finally {
    await db.close()
  }
}

async function copyAndSwitch(input: MoveInput, servers: Servers): Promise<void> {
  await beginCopy(input, servers)
  await waitForCopy(input, servers)
  await confirmWhenFlushed(servers.target)
  await waitForLag(input, servers.source)
  input.report('The new server has all rows and follows the changes.')
  await requireSoundBooks(input)
  await switchOver(input, servers)
}

async function beginCopy(input: MoveInput, { source, target }: Servers): Promise<void> {
  const { cell, keys, from, to, admin, report } = input
  if (await hasSubscription(target)) {
    report(`Continuing the move of cell ${cell} to ${placeOf(to.url)}.`)
    await holdTarget(target, input)
    await enableSubscription(target)
    return
  }
  await requireOtherServer(source, target)
  await requireEmpty(target, admin)
  report(`Copying cell ${cell} from ${placeOf(from)} to ${placeOf(to.url)}.`)
  const names = await createTables(target, admin)
  await requireNodeLogins(to)
  const own = await publish(source, names)
  if (own.length > 0) report(`Not copied, because they are not Florin's: ${own.join(', ')}.`)
  await saveCellMove(source, { state: 'copying', ...sealUrls(keys, cell, to) })
  await holdTarget(target, input)
  await dropSlot(source)
  await subscribe(target, { from, slot: await slotOf(source) })
}

/** A node that is started with the new address too early can't write to the copy. */
async function holdTarget(target: Session, { cell, keys, from }: MoveInput): Promise<void> {
  const old = sealUrls(keys, cell, { url: from, account_url: null })
  await saveCellMove(target, { state: 'arriving', ...old })
  await setReadOnly(target, true)
}

/** Checked before the copy: otherwise the nodes would fail after the switch. */
async function requireNodeLogins({ url, account_url }: DatabaseUrls): Promise<void> {
  const logins = [
    { url, role: 'florin_service', option: '--to' },
    {
      url: account_url ?? url,
      role: 'florin_account',
      option: account_url ? '--to-account' : '--to',
    },
  ]
  for (const { url: login_url, role, option } of logins) {
    const db = openDatabase(login_url, { role: { name: role, can_copy: false }, pool_size: 1 })
    try {
      await db.rows('select 1')
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new ConfigError(
        `The login of ${option} can't act as ${role} on the new server: ${reason}. If it exists, ` +
          `run there: grant ${role} to it.`,
      )
    } finally {
      await db.close()
    }
  }
}

async function waitForCopy(
  { cell, report, onProgress }: MoveInput,
  { source, target }: Servers,
): Promise<void> {
  let known_errors = 0
  for (;;) {
    await requireSlot(source, cell)
    const { copied, tables, size, errors } = await readCopyProgress(target)
    if (copied === tables) return report(`Copied ${tables} tables (${size}).`)
    onProgress(`copied ${copied} of ${tables} tables (${size})`)
    if (errors > known_errors) report('The new server reports a fault of the copy. See its log.')
    known_errors = errors
    await wait(POLL_MS)
  }
}

async function waitForLag({ cell, onProgress }: MoveInput, source: Session): Promise<void> {
  for (;;) {
    await requireSlot(source, cell)
    const bytes = await readLag(source)
    if (bytes <= LAG_BYTES_MAX) return
    onProgress(`${Math.ceil(bytes / LAG_BYTES_MAX)} MB behind`)
    await wait(POLL_MS)
  }
}

async function requireSoundBooks({ cell, admin, report, onProgress }: MoveInput): Promise<void> {
  onProgress('proving the books')
  const db = openDatabase(admin, { pool_size: 2 })
  try {
    const { violations, accounts } = await proveBooks(db, undefined, (count) =>
      onProgress(`${count} accounts proven`),
    )
    if (violations.length === 0) {
      const counted = accounts === 1 ? '1 account' : `${accounts} accounts`
      return report(`The books on the new server are sound (${counted}).`)
    }
    throw new ConfigError(
      `The books on the new server are not sound: ${violations.length} violations. Compare with ` +
        `\`florin audit books\` for cell ${cell}.`,
    )
  } finally {
    await db.close()
  }
}

/** A switch that takes too long is undone, and tried again with less to compare. */
async function switchOver(input: MoveInput, servers: Servers): Promise<void> {
  const { cell, report, onProgress } = input
  let bytes_max = COMPARED_BYTES_MAX
  for (let attempt = 1; ; attempt += 1) {
    onProgress('switching')
    try {
      return await trySwitch(input, servers, await splitBySize(servers.source, bytes_max))
    } catch (cause) {
      if (!(cause instanceof SwitchTooSlow)) throw cause
      if (attempt === SWITCH_ATTEMPTS) throw notSwitchedError(cell, cause)
      report(`Not switched yet: ${cause.message}. Trying again.`)
    }
    bytes_max /= 4
    await wait(SWITCH_PAUSE_MS)
    await enableSubscription(servers.target)
    await waitForLag(input, servers.source)
  }
}

async function trySwitch(input: MoveInput, servers: Servers, tables: TableLists): Promise<void> {
  const { cell, from, to, report } = input
  const lock = await openAdministrator(from, 'old')
  const frozen = await openSession(input.admin)
  try {
    const rows = { moved: movedRow(input), arrived: arrivedRow(input) }
    const onEqual = () => freeze(frozen)
    const done = await switchCell({ lock, ...servers, tables, ...rows, onEqual })
    report(
      `Switched: cell ${cell} is on ${placeOf(to.url)}. It refused calls for ${done.paused_ms} ` +
        `ms. ${done.rows} rows in ${tables.small.length} tables are equal on both servers.`,
    )
    await requireLargeEqual(input, { ...servers, target: frozen }, tables)
  } catch (cause) {
    // Ends the locks, if the switch did not happen.
    await lock.close()
    if (await isMoved(from)) throw cause
    await holdTarget(servers.target, input)
    throw cause instanceof SwitchTooSlow ? cause : notSwitchedError(cell, cause)
  } finally {
    await lock.close()
    await frozen.close()
  }
}

const movedRow = ({ keys, cell, to }: MoveInput): CellMove => ({
  state: 'moved',
  ...sealUrls(keys, cell, to),
})

const arrivedRow = ({ keys, cell, from }: MoveInput): CellMove => ({
  state: 'arrived',
  ...sealUrls(keys, cell, { url: from, account_url: null }),
})

function notSwitchedError(cell: number, cause: unknown): ConfigError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new ConfigError(
    `Cell ${cell} was not switched: ${reason}. It continues on the old server. Run the command ` +
      'again, or end the move with --cancel.',
  )
}

/** The copy as it is at the switch stays visible to this connection. */
async function freeze(session: Session): Promise<void> {
  await session.run('begin isolation level repeatable read')
  await session.rows('select 1')
}

/** Runs after the switch's connection has ended on the server too. */
async function isMoved(from: string): Promise<boolean> {
  const session = await openSession(from)
  try {
    await waitForSwitch(session)
    return (await findCellMove(session))?.state === 'moved'
  } finally {
    await session.close()
  }
}

/** The tables that are too large to compare during the switch are compared after it. */
async function requireLargeEqual(
  { report, onProgress }: MoveInput,
  { source, target }: Servers,
  { large }: TableLists,
): Promise<void> {
  for (const name of large) {
    onProgress(`comparing ${name}`)
    const { rows, differences } = await compareTables(source, target, [name])
    if (differences.length > 0) throw new ConfigError(`The copy differs: ${differences.join()}.`)
    report(`${name}: ${rows} rows are equal on both servers.`)
  }
}

async function finish(input: MoveInput, { source, target }: Servers): Promise<void> {
  const { cell, to, report } = input
  await saveCellMove(target, arrivedRow(input))
  await setReadOnly(target, false)
  await unsubscribe(target)
  await dropSlot(source)
  await requireSoundBooks(input)
  report(
    `Name ${placeOf(to.url)} in the settings of every node; until then, they find it through the ` +
      `old database, which is read-only. Then run \`florin cells move ${cell} --confirm\`, with ` +
      '--from and --admin if you gave them here.',
  )
}
