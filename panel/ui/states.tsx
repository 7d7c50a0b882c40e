import type { ReactNode } from 'react'
import type { FlorinError } from '#client/client.ts'
import { Button } from './button.tsx'
import { classes } from './classes.ts'
import { CircleAlert, Compass, type LucideIcon } from './icons.ts'
import { RequestId } from './problem_note.tsx'

/** A placeholder while content loads. */
export function Skeleton({ className }: { className?: string }) {
  return (
    <div
      aria-hidden
      className={classes(
        'animate-[shimmer_1.4s_ease-in-out_infinite] rounded-md bg-line',
        className,
      )}
    />
  )
}

type EmptyStateProps = { icon: LucideIcon; title: string; children: ReactNode; action?: ReactNode }

/** An empty list: what will appear here, and optionally how to add it. */
export function EmptyState({ icon: Icon, title, children, action }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center px-6 py-12 text-center">
      <Icon className="mb-3 size-6 text-soft" aria-hidden />
      <p className="font-medium">{title}</p>
      <p className="mt-1 max-w-sm text-balance text-soft">{children}</p>
      {action !== undefined && <div className="mt-4">{action}</div>}
    </div>
  )
}

/** A list that is empty because of its filters. */
export const NoResults = ({ icon }: Pick<EmptyStateProps, 'icon'>) => (
  <EmptyState icon={icon} title="No results">
    Try changing or clearing your filters.
  </EmptyState>
)

/**
 * A failed query: the message, the request ID for support, and a retry button. An object that does
 * not exist needs neither.
 */
export function ErrorState({ problem, retry }: { problem: FlorinError; retry(): void }) {
  if (problem.code === 'not_found') {
    return (
      <EmptyState icon={Compass} title={notFoundTitle(problem.message)}>
        The link may be incomplete or out of date.
      </EmptyState>
    )
  }
  return (
    <div role="alert" className="flex flex-col items-center px-6 py-12 text-center">
      <CircleAlert className="mb-3 size-6 text-bad" aria-hidden />
      <p className="max-w-md font-medium">{problem.message}</p>
      <RequestId problem={problem} />
      <Button className="mt-4" onClick={retry}>
        Try again
      </Button>
    </div>
  )
}

/** "No such card." is the message of the API; a title reads like "Page not found". */
function notFoundTitle(message: string): string {
  const noun = /^No such (.+)\.$/.exec(message)?.[1]
  return noun === undefined ? message : `${noun.charAt(0).toUpperCase()}${noun.slice(1)} not found`
}
