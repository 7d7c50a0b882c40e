import { useRef, useState } from 'react'
import type { InputOfName } from '#contract/operations.ts'
import { type CsvCell, csvRow } from '#kernel/csv.ts'
import { callOperation } from '#panel/api.ts'
import { saveBlob } from '#panel/download.ts'
import type { ListName, RowOf } from '#panel/queries.ts'
import { Button } from './button.tsx'
import { Download } from './icons.ts'
import { toast } from './toast.tsx'

export type CsvColumn<Row> = readonly [title: string, cell: (row: Row) => CsvCell]

type Props<Name extends ListName> = {
  name: Name
  /** The filters of the list. */
  input: InputOfName<Name>
  columns: readonly CsvColumn<RowOf<Name>>[]
  file_name: string
  /** Rows to leave out. */
  keep?(row: RowOf<Name>): boolean
}

const PAGE_ROWS = 100

/** Saves all rows of a filtered list as CSV. It reads page by page and shows its progress. */
export function ExportCsv<Name extends ListName>(props: Props<Name>) {
  const [count, setCount] = useState<number | null>(null)
  const running = useRef<AbortController | null>(null)
  const start = async () => {
    const controller = new AbortController()
    running.current = controller
    setCount(0)
    try {
      const parts = await readCsv(props, { signal: controller.signal, onProgress: setCount })
      saveBlob(new Blob(parts, { type: 'text/csv' }), props.file_name)
    } catch (cause) {
      if (!controller.signal.aborted) toast((cause as Error).message, 'bad')
    }
    setCount(null)
  }
  if (count === null) {
    return (
      <Button onClick={() => void start()}>
        <Download /> Export CSV
      </Button>
    )
  }
  return (
    <>
      <p role="status" className="num self-center text-soft">
        Exporting, {count.toLocaleString('en-US')} {count === 1 ? 'row' : 'rows'}…
      </p>
      <Button onClick={() => running.current?.abort()}>Cancel</Button>
    </>
  )
}

type ExportRun = { signal: AbortSignal; onProgress(rows: number): void }

async function readCsv<Name extends ListName>(
  { name, input, columns, keep = () => true }: Props<Name>,
  { signal, onProgress }: ExportRun,
): Promise<string[]> {
  const parts = [csvRow(columns.map(([title]) => title))]
  let cursor: string | null = null
  do {
    const page: { data: unknown[]; next_cursor: string | null } = await callOperation(
      name,
      { ...input, limit: PAGE_ROWS, ...(cursor !== null && { cursor }) },
      { signal },
    )
    const rows = (page.data as RowOf<Name>[]).filter(keep)
    for (const row of rows) parts.push(csvRow(columns.map(([, cell]) => cell(row))))
    onProgress(parts.length - 1)
    cursor = page.next_cursor
  } while (cursor !== null)
  return parts
}
