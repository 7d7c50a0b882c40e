import pg from 'pg'
import { sendAlone } from '#platform/postgres/send_statement.ts'
import { copyOf, endingOf, type Template } from './templates.ts'

const CHUNK_BYTES = 8_000_000
const BAR_LETTERS = 40

/** By table. */
type WaitingRows = Map<string, { columns: string[]; texts: string[] }>

export type Loader = {
  /** Writes a copy of the rows; `counts` is added to the progress. */
  copy(templates: readonly Template[], counts: number): Promise<void>
  end(): Promise<void>
}

/** Loads copies of templates by COPY, through the parent tables. */
export async function startLoader(url: string, total: number): Promise<Loader> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  // The copies are as sound as their templates: foreign keys need not be checked again.
  await client.query('set session_replication_role = replica; set synchronous_commit = off')
  let waiting: WaitingRows = new Map()
  let sent: Promise<void> = Promise.resolve()
  const show = progressBar(total)
  let [bytes, copies, done] = [0, 0, 0]
  const send = async (rows: WaitingRows) => {
    for (const [table, { columns, texts }] of rows) {
      const data = Buffer.from(texts.join(''))
      const text = `copy ${table} (${columns.join(', ')}) from stdin`
      await sendAlone(client, { text }, data)
    }
    show(done)
  }
  // The next rows are made while the server writes the previous ones.
  const flush = async () => {
    await sent
    sent = send(waiting)
    waiting = new Map()
    bytes = 0
  }
  return {
    copy: async (templates, counts) => {
      copies += 1
      done += counts
      const ending = endingOf(copies)
      for (const template of templates) {
        const { table, columns } = template
        const text = copyOf(template, ending)
        const of_table = waiting.get(table) ?? { columns, texts: [] }
        waiting.set(table, of_table)
        of_table.texts.push(text)
        bytes += text.length
      }
      if (bytes > CHUNK_BYTES) await flush()
    },
    end: async () => {
      await flush()
      await sent
      process.stderr.write('\n')
      await client.end()
    },
  }
}

/** One line that is rewritten on a terminal, and a line for each tenth elsewhere. */
function progressBar(total: number): (done: number) => void {
  const started = performance.now()
  let tenths = 0
  return (done) => {
    const share = Math.min(1, done / total)
    const is_new = Math.floor(share * 10) > tenths
    if (!process.stderr.isTTY && !is_new) return
    tenths = Math.floor(share * 10)
    const bar = '█'.repeat(Math.round(share * BAR_LETTERS)).padEnd(BAR_LETTERS, '·')
    const seconds = (performance.now() - started) / 1_000
    const rate = Math.round(done / seconds).toLocaleString('en-US')
    const left = Math.round((seconds * (1 - share)) / share)
    const line = `${bar} ${(share * 100).toFixed(0)} %, ${rate} transactions/s, ${left} s left`
    process.stderr.write(process.stderr.isTTY ? `\r${line}  ` : `${line}\n`)
  }
}
