import { type ReactNode, useState } from 'react'
import { useLocation } from 'wouter'
import type { List } from '#panel/queries.ts'
import { Button } from './button.tsx'
import { classes } from './classes.ts'
import { ChevronDown } from './icons.ts'
import { type Sortable, SortHeader, type Sorting, useSorting } from './sorting.tsx'
import { ErrorState, Skeleton } from './states.tsx'

export type Column<Row> = Sortable<Row> & {
  cell(row: Row): ReactNode
  /** Right-aligned: amounts and timestamps. */
  right?: boolean
  /** Hidden on phones; use it for columns that are not needed to identify a row. */
  wide_only?: boolean
}

type Props<Row> = {
  label: string
  list: List<Row>
  columns: readonly Column<Row>[]
  /** Shown instead of a table without rows. */
  empty: ReactNode
  /** Makes each row a link; the first cell has the anchor element. */
  href?(row: Row): string
  /** Shown below a row when it is opened. */
  details?: ((row: Row) => ReactNode) | undefined
  /** Names a row for the button that opens it. */
  rowName?(row: Row): string
  /** The content of an opened row, for screen readers. */
  details_name?: string
}

/** A paginated list with its loading, error and empty states. */
export function Table<Row extends { id: string }>(props: Props<Row>) {
  const { label, list, columns, empty, href, details, rowName, details_name = 'Events' } = props
  const { sorted, sorting, toggle } = useSorting(list.rows ?? [], columns)
  if (list.problem !== null && list.rows === undefined) {
    return <ErrorState problem={list.problem} retry={list.retry} />
  }
  if (list.rows === undefined) return <TableSkeleton label={label} />
  if (list.rows.length === 0) return empty
  return (
    <div>
      <table className="w-full border-collapse" aria-label={label}>
        <TableHead
          columns={columns}
          details_name={details === undefined ? null : details_name}
          sorting={sorting}
          onSort={toggle}
          partly={list.has_more ? sorted.length : null}
        />
        <tbody className="divide-y divide-line">
          {sorted.map((row) => (
            <TableRow
              key={row.id}
              row={row}
              columns={columns}
              href={href?.(row)}
              details={details}
              details_label={`${details_name} of ${rowName?.(row) ?? row.id}`}
            />
          ))}
        </tbody>
      </table>
      {list.has_more && (
        <div className="border-t border-line p-3 text-center">
          <Button kind="quiet" busy={list.is_loading_more} onClick={list.loadMore}>
            Load more
          </Button>
        </div>
      )}
    </div>
  )
}

type HeadProps<Row> = {
  columns: readonly Column<Row>[]
  details_name: string | null
  sorting: Sorting
  onSort(title: string): void
  /** The number of rows that a sort covers, if there are more; null if all are loaded. */
  partly: number | null
}

function TableHead<Row>({ columns, details_name, sorting, onSort, partly }: HeadProps<Row>) {
  return (
    <thead className="border-b border-line text-left text-sm text-soft">
      <tr>
        {columns.map((column) => (
          <th
            key={column.title}
            scope="col"
            aria-sort={sorting?.title === column.title ? sorting.direction : undefined}
            className={cellClass(column, 'h-9 font-medium')}
          >
            {column.sortKey === undefined ? (
              column.title
            ) : (
              <SortHeader
                title={column.title}
                right={column.right === true}
                sorting={sorting}
                onSort={() => onSort(column.title)}
              />
            )}
          </th>
        ))}
        {details_name !== null && (
          <th scope="col" className="w-9">
            <span className="sr-only">{details_name}</span>
          </th>
        )}
      </tr>
      {sorting !== null && partly !== null && (
        <tr>
          <td colSpan={columns.length + 1} className="px-4 pb-2">
            Sorts only the {partly} loaded rows. Load more to include the rest.
          </td>
        </tr>
      )}
    </thead>
  )
}

const cellClass = ({ right, wide_only }: Column<never>, look: string) =>
  classes(
    'px-2 first:pl-4 last:pr-4',
    right === true && 'text-right',
    wide_only === true && 'hidden md:table-cell',
    look,
  )

type RowProps<Row> = {
  row: Row
  columns: readonly Column<Row>[]
  href: string | undefined
  details: ((row: Row) => ReactNode) | undefined
  details_label: string
}

function TableRow<Row>({ row, columns, href, details, details_label }: RowProps<Row>) {
  const [, navigate] = useLocation()
  const [is_open, setOpen] = useState(false)
  return (
    <>
      {/* The whole row is clickable with the mouse; keyboards use the link in the first cell. */}
      <tr
        className={href === undefined ? '' : 'cursor-pointer hover:bg-hover'}
        onClick={() => href !== undefined && navigate(href)}
      >
        {columns.map((column, at) => (
          <td key={column.title} className={cellClass(column, 'h-12 py-2')}>
            {at === 0 && href !== undefined ? (
              <RowLink href={href}>{column.cell(row)}</RowLink>
            ) : (
              column.cell(row)
            )}
          </td>
        ))}
        {details !== undefined && (
          <td className="pr-2">
            <Button
              kind="quiet"
              size="small"
              className="px-1.5"
              aria-expanded={is_open}
              aria-label={details_label}
              onClick={(click) => {
                click.stopPropagation()
                setOpen(!is_open)
              }}
            >
              <ChevronDown className={is_open ? 'rotate-180' : ''} />
            </Button>
          </td>
        )}
      </tr>
      {is_open && details !== undefined && (
        <tr>
          <td colSpan={columns.length + 1}>{details(row)}</td>
        </tr>
      )}
    </>
  )
}

/** The row itself navigates; only a click for a new tab is the link's own. */
function RowLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <a
      href={href}
      className="font-medium"
      onClick={(click) => {
        if (click.metaKey || click.ctrlKey) click.stopPropagation()
        else click.preventDefault()
      }}
    >
      {children}
    </a>
  )
}

function TableSkeleton({ label }: { label: string }) {
  return (
    <div role="status" aria-label={`Loading ${label}`} className="space-y-4 p-4">
      {[0, 1, 2, 3].map((line) => (
        <Skeleton key={line} className="h-5" />
      ))}
    </div>
  )
}
