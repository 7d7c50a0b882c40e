import { type ReactNode, useEffect } from 'react'
import { classes } from './classes.ts'

type Props = {
  title?: ReactNode
  /** At the right of the title: a link or a small button. */
  action?: ReactNode
  /** The content brings its own padding: tables, lists. */
  flush?: boolean
  className?: string
  children: ReactNode
}

/** A sheet of the page with a title. */
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
  /** What the browser's tab says, where the title is more than a string. */
  tab?: string
  note?: ReactNode
  action?: ReactNode
}

/** The top of every page: what it is, and the one thing most come here to do. */
export function PageHeader({ title, tab, note, action }: HeaderProps) {
  const named = tab ?? (typeof title === 'string' ? title : undefined)
  useEffect(() => {
    document.title = named === undefined ? 'Florin' : `${named} · Florin`
  }, [named])
  return (
    <header className="mb-5 flex flex-wrap items-center justify-between gap-x-4 gap-y-3">
      <div className="min-w-0">
        <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
        {note !== undefined && <p className="mt-0.5 text-pretty text-soft">{note}</p>}
      </div>
      {action !== undefined && <div className="flex flex-wrap gap-2">{action}</div>}
    </header>
  )
}

export type DescriptionRow = readonly [name: string, value: ReactNode]

/** A name and its value, one per line; what is false is left out. */
export function DescriptionList({ rows }: { rows: readonly (DescriptionRow | false)[] }) {
  return (
    <dl className="divide-y divide-line">
      {rows
        .filter((row) => row !== false)
        .map(([name, value]) => (
          <div key={name} className="flex items-baseline justify-between gap-4 py-2">
            <dt className="shrink-0 text-soft">{name}</dt>
            <dd className="min-w-0 text-right text-balance break-words">{value}</dd>
          </div>
        ))}
    </dl>
  )
}
