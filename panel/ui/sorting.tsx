import { useState } from 'react'
import { classes } from './classes.ts'
import { ArrowDown, ArrowUp } from './icons.ts'

type SortKey = string | number | null

export type Sortable<Row> = {
  title: string
  /** Makes the column sortable. Null sorts last in both directions. */
  sortKey?(row: Row): SortKey
}

type Direction = 'ascending' | 'descending'
export type Sorting = { title: string; direction: Direction } | null

/** Each click on a header: descending for numbers and dates, then the other way, then as loaded. */
export function useSorting<Row>(
  rows: readonly Row[],
  columns: readonly Sortable<Row>[],
): { sorted: readonly Row[]; sorting: Sorting; toggle(title: string): void } {
  const [sorting, setSorting] = useState<Sorting>(null)
  const toggle = (title: string) => {
    const key = columns.find((column) => column.title === title)?.sortKey
    const first = key !== undefined && rows.some((row) => isText(key(row))) ? 'up' : 'down'
    setSorting((before) => nextSorting(before, title, first))
  }
  return { sorted: sortRows(rows, columns, sorting), sorting, toggle }
}

/** Timestamps are text too, but people want the newest first. */
const isText = (key: SortKey) => typeof key === 'string' && !/^\d{4}-\d\d-\d\dT/.test(key)

export function nextSorting(before: Sorting, title: string, first: 'up' | 'down'): Sorting {
  const directions: Direction[] =
    first === 'up' ? ['ascending', 'descending'] : ['descending', 'ascending']
  const at = before?.title === title ? directions.indexOf(before.direction) + 1 : 0
  const direction = directions[at]
  return direction === undefined ? null : { title, direction }
}

/** Rows with equal keys keep their order. */
export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Sortable<Row>[],
  sorting: Sorting,
): readonly Row[] {
  const sortKey = columns.find(({ title }) => title === sorting?.title)?.sortKey
  if (sorting === null || sortKey === undefined) return rows
  const sign = sorting.direction === 'ascending' ? 1 : -1
  return rows.toSorted((a, b) => compareKeys(sortKey(a), sortKey(b), sign))
}

function compareKeys(a: SortKey, b: SortKey, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  if (typeof a === 'number' && typeof b === 'number') return sign * (a - b)
  return sign * String(a).localeCompare(String(b), 'en', { numeric: true, sensitivity: 'base' })
}

type HeaderProps = { title: string; right: boolean; sorting: Sorting; onSort(): void }

export function SortHeader({ title, right, sorting, onSort }: HeaderProps) {
  const direction = sorting?.title === title ? sorting.direction : null
  const Icon = direction === 'ascending' ? ArrowUp : ArrowDown
  return (
    <button
      type="button"
      onClick={onSort}
      className={classes(
        'group -mx-1 inline-flex h-7 items-center gap-1 rounded px-1 font-medium hover:text-ink',
        direction !== null && 'text-ink',
        right && 'flex-row-reverse',
      )}
    >
      {title}
      <Icon
        aria-hidden
        className={classes(
          'size-3.5',
          direction === null &&
            'max-md:hidden opacity-0 group-hover:opacity-60 group-focus-visible:opacity-60',
        )}
      />
    </button>
  )
}
