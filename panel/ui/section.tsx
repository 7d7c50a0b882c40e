import { type ReactNode, useEffect } from 'react'
import { classes } from './classes.ts'

type Props = {
  title?: ReactNode
  /** A link or small button beside the title. */
  action?: ReactNode
  /** No padding, for tables and lists that have their own. */
  flush?: boolean
  className?: string
  children: ReactNode
}

export function Section({ title, action, flush = false, className, children }: Props) {
  return (
    <section className={classes('min-w-0 rounded-xl border border-line bg-sheet', className)}>
      {title !== undefined && (
        <header
          className={classes(
            'flex min-h-12 items-center justify-between gap-3 px-4 py-2',
            flush && 'border-b border-line',
          )}
        >
          <h2 className="font-semibold">{title}</h2>
          {action}
        </header>
      )}
      <div className={flush ? '' : classes('px-4 pb-4', title === undefined && 'pt-4')}>
        {children}
      </div>
    </section>
  )
}

type HeaderProps = {
  title: ReactNode
  /** The document title, if `title` is not a string. */
  tab?: string
  description?: ReactNode
  action?: ReactNode
}

/** The heading of a page, with its main action. It also sets the document title. */
export function PageHeader({ title, tab, description, action }: HeaderProps) {
  const named = tab ?? (typeof title === 'string' ? title : undefined)
  useEffect(() => {
    document.title = named === undefined ? 'Florin' : `${named} · Florin`
  }, [named])
  return (
    <header className="mb-5 flex flex-wrap items-center justify-between gap-x-4 gap-y-3">
      <div className="min-w-0">
        <h1 className="text-xl font-semibold tracking-tight wrap-anywhere">{title}</h1>
        {description !== undefined && (
          <p className="mt-0.5 text-pretty wrap-anywhere text-soft">{description}</p>
        )}
      </div>
      {action !== undefined && <div className="flex flex-wrap gap-2">{action}</div>}
    </header>
  )
}

export type DescriptionRow = readonly [name: string, value: ReactNode]

/** Labels and values, one pair per row. Rows that are false are skipped. */
export function DescriptionList({ rows }: { rows: readonly (DescriptionRow | false)[] }) {
  return (
    <dl className="divide-y divide-line">
      {rows
        .filter((row) => row !== false)
        .map(([name, value]) => (
          <div key={name} className="flex items-baseline justify-between gap-4 py-2">
            <dt className="max-w-3/5 shrink-0 text-soft">{name}</dt>
            <dd className="min-w-0 text-right text-balance break-words">{value}</dd>
          </div>
        ))}
    </dl>
  )
}
