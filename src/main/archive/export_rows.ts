import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Tx } from '#platform/postgres/db.ts'
import { quoted } from '#platform/postgres/whole_tables.ts'
import { LineCounter } from './line_counter.ts'
import type { ArchiveFile, RowSum } from './manifest.ts'

const FETCH_ROWS = 2_000

/** A row is written and compared as this text, which depends on the time zone. */
const ROW = 'row_to_json(t)::text'

type Source = { table: string; names: readonly string[]; folder: string }

/** Writes the rows of a table's partitions to a file, one line of JSON each, and flushes it. */
export async function exportRows(
  session: Tx,
  { table, names, folder }: Source,
): Promise<ArchiveFile> {
  const file = `${table}.jsonl.gz`
  const path = join(folder, file)
  const counter = new LineCounter()
  const hash = createHash('sha256')
  let bytes = 0
  const digest = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk)
      bytes += chunk.length
      done(null, chunk)
    },
  })
  await session.run('begin isolation level repeatable read read only')
  try {
    const sum = await sumRows(session, names)
    const lines = Readable.from(readLines(session, names, counter))
    await pipeline(lines, createGzip(), digest, createWriteStream(path))
    await flush(path)
    const columns = await columnsOf(session, names[0] ?? table)
    const sha256 = hash.digest('hex')
    return { table, file, columns, ...sum, ...counter.totals(), bytes, sha256 }
  } finally {
    await session.run('rollback')
  }
}

async function* readLines(
  session: Tx,
  names: readonly string[],
  counter: LineCounter,
): AsyncGenerator<string> {
  for (const name of names) {
    await session.run(
      `declare archived cursor for select ${ROW} as line from ${quoted(name)} t
        order by account_id, id`,
    )
    for (;;) {
      const rows = await session.rows<{ line: string }>(`fetch ${FETCH_ROWS} from archived`)
      if (rows.length === 0) break
      for (const { line } of rows) counter.add(line)
      yield rows.map(({ line }) => `${line}\n`).join('')
    }
    await session.run('close archived')
  }
}

/** The number of rows and the sum of a hash of each, which doesn't depend on their order. */
export async function sumRows(session: Tx, names: readonly string[]): Promise<RowSum> {
  await session.run(`set timezone = 'UTC'`)
  const parts = names.map((name) => `select ${ROW} as line from ${quoted(name)} t`)
  const [sum] = await session.rows<RowSum>(
    `select count(*)::integer as rows,
            coalesce(sum(hashtextextended(line, 0)::numeric), 0)::text as row_hash
       from (${parts.join(' union all ')}) r`,
  )
  return sum ?? { rows: 0, row_hash: '0' }
}

/** A domain is written as its type, because the database that reads the archive may not have it. */
function columnsOf(session: Tx, name: string): Promise<ArchiveFile['columns']> {
  return session.rows(
    `select attname as name,
            case when typtype = 'd' then format_type(typbasetype, typtypmod)
                 else format_type(atttypid, atttypmod) end as type
       from pg_attribute join pg_type t on t.oid = atttypid
      where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
    [quoted(name)],
  )
}

/** After this, a crash of the machine keeps a file or the names in a folder. */
export async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}
