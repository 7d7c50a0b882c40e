import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import type { TSchema } from 'typebox'
import { startProgress } from '#cli/progress.ts'
import { type CsvCell, csvRow } from '#kernel/csv.ts'
import { csvFieldNames } from './flags.ts'
import { printLine, printResponse, printRows, type Row } from './output.ts'
import { at } from './table.ts'

export type ListOptions = { json?: boolean; csv?: boolean; watch?: boolean; all?: boolean }

/** Lists without pages have no cursor. */
export type ListPage = { data: readonly Row[]; next_cursor?: string | null }

/** A list of the API: how to load a page or all rows, and how to show them. */
export type ListSource = {
  load(): Promise<ListPage>
  /** Only lists with pages can load all of them. */
  rows?: () => AsyncIterable<Row>
  columns: readonly string[]
  output: TSchema
}

export const addAllOption = (command: Command): Command =>
  command.option('--all', 'fetch all pages; with --json, one row per line')

export const addListOptions = (command: Command): Command =>
  command
    .addOption(new Option('--csv', 'print CSV with all fields').conflicts('json'))
    .addOption(new Option('--watch', 'keep showing the list as it changes').conflicts('all'))

export async function showList(source: ListSource, options: ListOptions): Promise<void> {
  if (options.watch) return watchList(source, options)
  if (options.all && source.rows !== undefined) return showAll(source, source.rows(), options)
  const page = await source.load()
  if (options.json) return printResponse(page, true)
  if (options.csv) writeCsv(source.output, page.data)
  else printRows(page.data, source.columns)
  const hint = source.rows === undefined ? '' : ', or --all'
  if (page.next_cursor) {
    process.stderr.write(`More results: --cursor ${page.next_cursor}${hint}.\n`)
  }
}

async function showAll(source: ListSource, rows: AsyncIterable<Row>, options: ListOptions) {
  const kept: Row[] = []
  let count = 0
  const progress = startProgress('Reading')
  if (options.csv) writeCsv(source.output, [])
  try {
    for await (const row of rows) {
      count += 1
      progress.update(`${count} rows`)
      if (options.json) printLine(row)
      else if (options.csv) writeCsvRow(source.output, row)
      else kept.push(row)
    }
  } finally {
    progress.end()
  }
  if (!options.json && !options.csv) printRows(kept, source.columns)
}

function writeCsv(output: TSchema, rows: readonly Row[]): void {
  process.stdout.write(csvRow(csvFieldNames(output, 'data')))
  for (const row of rows) writeCsvRow(output, row)
}

function writeCsvRow(output: TSchema, row: Row): void {
  const cells = csvFieldNames(output, 'data').map((name) => csvCell(at(row, name)))
  process.stdout.write(csvRow(cells))
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null

/** Metadata, and lists of objects such as a ticket's messages, are JSON. */
function csvCell(value: unknown): CsvCell {
  if (Array.isArray(value) && !value.some(isObject)) return value.join(', ')
  return isObject(value) ? JSON.stringify(value) : (value as CsvCell)
}

const WATCH_MS = 2_000
const CLEAR_SCREEN = '\u001b[H\u001b[2J'

/** A terminal is drawn again every two seconds; a pipe gets new and changed rows only. */
async function watchList(source: ListSource, options: ListOptions): Promise<void> {
  const seen = new Set<string>()
  if (options.csv) writeCsv(source.output, [])
  for (;;) {
    const { data } = await source.load()
    if (process.stdout.isTTY && !options.json && !options.csv) {
      process.stdout.write(CLEAR_SCREEN)
      printRows(data, source.columns)
      process.stderr.write('\nUpdated every 2 seconds. Ctrl-C to stop.\n')
    } else {
      const fresh = data.filter((row) => !seen.has(JSON.stringify(row))).toReversed()
      for (const row of fresh) {
        seen.add(JSON.stringify(row))
        if (options.csv) writeCsvRow(source.output, row)
        else printLine(row)
      }
    }
    await sleep(WATCH_MS)
  }
}
