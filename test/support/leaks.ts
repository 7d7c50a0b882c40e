import type { Database } from '#platform/postgres/db.ts'
import { jsonLog, type Log } from '#platform/runtime/log.ts'

/** A log that is kept as text, to be searched for secrets. */
export function recordingLog(): { log: Log; text(): string } {
  const lines: string[] = []
  const sink = { write: (line: string) => lines.push(line) }
  return { log: jsonLog(sink, () => new Date(0)), text: () => lines.join('') }
}

/** Every row of every table as one text. */
export async function wholeDatabase(db: Database): Promise<string> {
  const tables = await db.rows<{ name: string }>(
    `select quote_ident(relname) as name from pg_class
      where relkind in ('r', 'p') and not relispartition
        and relnamespace = current_schema()::regnamespace`,
  )
  const texts: string[] = []
  for (const { name } of tables) {
    const rows = await db.rows<{ text: string }>(`select t::text as text from ${name} t`)
    texts.push(...rows.map(({ text }) => `${name} ${text}`))
  }
  return texts.join('\n')
}
