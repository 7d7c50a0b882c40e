import type { ReactNode } from 'react'
import { useLocation } from 'wouter'
import type { List } from '#panel/queries.ts'
import { Button } from './button.tsx'
import { classes } from './classes.ts'
import { ErrorState, Skeleton } from './states.tsx'

export type Column<Row> = {
  title: string
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
}

/** A paginated list with its loading, error and empty states. */
export function Table<Row extends { id: string }>(props: Props<Row>) {
  const { label, list, columns, empty, href } = props
  if (list.problem !== null && list.rows === undefined) {
    return <ErrorState problem={list.problem} retry={list.retry} />
  }
  if (list.rows === undefined) return <TableSkeleton label={label} />
  if (list.rows.length === 0) return empty
  return (
    <div>
      <table className="w-full border-collapse" aria-label={label}>
        <thead className="border-b border-line text-left text-sm text-soft">
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" className={cellClass(column, 'h-9 font-medium')}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {list.rows.map((row) => (
            <TableRow key={row.id} row={row} columns={columns} href={href?.(row)} />
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

const cellClass = ({ right, wide_only }: Column<never>, look: string) =>
  classes(
    'px-2 first:pl-4 last:pr-4',
    right === true && 'text-right',
    wide_only === true && 'hidden md:table-cell',
    look,
  )

type RowProps<Row> = { row: Row; columns: readonly Column<Row>[]; href: string | undefined }

function TableRow<Row>({ row, columns, href }: RowProps<Row>) {
  const [, navigate] = useLocation()
  return (
    // The whole row is clickable with the mouse; keyboards use the link in the first cell.
    <tr
      className={href === undefined ? '' : 'cursor-pointer hover:bg-hover'}
      onClick={() => href !== undefined && navigate(href)}
    >
      {columns.map((column, at) => (
        <td key={column.title} className={cellClass(column, 'h-12 py-2')}>
          {at === 0 && href !== undefined ? (
            <a
              href={href}
              className="font-medium"
              onClick={(click) => {
                if (click.metaKey || click.ctrlKey) click.stopPropagation()
                else click.preventDefault()
              }}
            >
              {column.cell(row)}
            </a>
          ) : (
            column.cell(row)
          )}
        </td>
      ))}
    </tr>
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
