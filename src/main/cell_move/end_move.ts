import { deleteCellMove, findCellMove } from '#domain/directory/cell_move_store.ts'
import { placeOf } from '#platform/postgres/database_url.ts'
import type { Session } from '#platform/postgres/session.ts'
import { emptyTables } from '#platform/postgres/whole_tables.ts'
import { ConfigError } from '#platform/settings/environment.ts'
import type { Keys } from '#platform/storage/keys.ts'
import { openUrls } from './sealed_urls.ts'
import { listTables, openAdministrator, setReadOnly } from './servers.ts'
import { dropSlot, unpublish } from './source.ts'
import { unsubscribe } from './target.ts'

export type EndInput = {
  cell: number
  keys: Keys
  /** The login of an administrator on the server in the settings. */
  from: string
  /** Of an administrator on the new server; undefined: the one that was named for the nodes. */
  admin: string | undefined
  report(line: string): void
}

/** Ends a move before its switch: both databases are as they were before it. */
export function cancelMove(input: EndInput): Promise<void> {
  const { cell, keys, from, report } = input
  return withSession(from, 'old', async (source) => {
    const move = await findCellMove(source)
    if (move === undefined) throw new ConfigError(`Cell ${cell} is not being moved.`)
    if (move.state !== 'copying') {
      throw new ConfigError(
        `Cell ${cell} has been switched, and its new rows are only on the new server. To go ` +
          'back, move it again after --confirm.',
      )
    }
    const admin = input.admin ?? openUrls(keys, cell, move).url
    await clearTarget(admin, report)
    await clearSource(source)
    await deleteCellMove(source)
    report(`The move of cell ${cell} was canceled. It continues at ${placeOf(from)}.`)
  })
}

/** A new server that can't be reached must not keep the old one from deleting its log. */
async function clearTarget(admin: string, report: EndInput['report']): Promise<void> {
  const target = await openIfReachable(admin, 'new', (reason) =>
    report(`${reason} Drop the copy there before you use it again.`),
  )
  if (target === undefined) return
  try {
    await unsubscribe(target)
    const names = (await listTables(target)).map(({ name }) => name)
    if (names.length === 0) return
    await emptyTables(target, names)
    await deleteCellMove(target)
    await setReadOnly(target, false)
  } finally {
    await target.close()
  }
}

async function openIfReachable(
  url: string,
  which: 'old' | 'new',
  onFailure: (reason: string) => void,
): Promise<Session | undefined> {
  try {
    return await openAdministrator(url, which)
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause
    onFailure(cause.message)
    return undefined
  }
}

/** Ends a move after its switch. The settings may name either database. */
export function confirmMove(input: EndInput): Promise<void> {
  const { cell, keys, from, admin } = input
  return withSession(from, 'old', async (listed) => {
    const move = await findCellMove(listed)
    if (move?.state === 'moved') {
      const to = admin ?? openUrls(keys, cell, move).url
      return withSession(to, 'new', (target) => confirm(input, target, () => clearSource(listed)))
    }
    if (move?.state === 'arrived') {
      const old = openUrls(keys, cell, move).url
      return confirm(input, listed, () => clearSourceAt(old, input.report))
    }
    throw new ConfigError(
      move === undefined
        ? `Cell ${cell} has no move to confirm.`
        : `Cell ${cell} has not been switched yet. Run \`florin cells move ${cell} --to …\` again.`,
    )
  })
}

async function clearSource(source: Session): Promise<void> {
  await dropSlot(source)
  await unpublish(source)
}

/** An old server that is gone must not keep the cell from being moved again. */
async function clearSourceAt(url: string, report: EndInput['report']): Promise<void> {
  const source = await openIfReachable(url, 'old', (reason) =>
    report(`${reason} Drop the publication and the slot of this move there if it comes back.`),
  )
  if (source === undefined) return
  try {
    await clearSource(source)
  } finally {
    await source.close()
  }
}

async function confirm(
  { cell, report }: EndInput,
  target: Session,
  clearOld: () => Promise<void>,
): Promise<void> {
  await unsubscribe(target)
  await clearOld()
  await deleteCellMove(target)
  // A schema has the same name on both servers.
  const old = target.schema === null ? 'database' : `schema ${target.schema}`
  report(
    `The move of cell ${cell} is confirmed. Drop the old ${old} when the settings of every node ` +
      'name the new server.',
  )
}

async function withSession<Value>(
  url: string,
  which: 'old' | 'new',
  work: (session: Session) => Promise<Value>,
): Promise<Value> {
  const session = await openAdministrator(url, which)
  try {
    return await work(session)
  } finally {
    await session.close()
  }
}
