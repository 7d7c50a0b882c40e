import type { UseQueryResult } from '@tanstack/react-query'
import { ArrowLeft } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { FlorinError } from '#client/client.ts'
import { Section } from './section.tsx'
import { Failed, Skeleton } from './states.tsx'

type Props<Value> = { read: UseQueryResult<Value, FlorinError>; children(value: Value): ReactNode }

/** What was read, or that it is being read, or why it could not be. */
export function One<Value>({ read, children }: Props<Value>) {
  if (read.data !== undefined) return children(read.data)
  return (
    <Section>
      {read.error === null ? (
        <div role="status" aria-label="Loading" className="space-y-4">
          <Skeleton className="h-6 w-1/2" />
          <Skeleton className="h-24" />
        </div>
      ) : (
        <Failed problem={read.error} retry={() => void read.refetch()} />
      )}
    </Section>
  )
}

/** From a thing to the list it stands in. */
export function BackLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <Link
      href={href}
      className="mb-2 inline-flex items-center gap-1.5 py-1 text-sm font-medium text-soft hover:text-ink"
    >
      <ArrowLeft className="size-4" aria-hidden />
      {children}
    </Link>
  )
}
