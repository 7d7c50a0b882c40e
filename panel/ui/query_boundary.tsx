import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { FlorinError } from '#client/client.ts'
import { Section } from './section.tsx'
import { ErrorState, Skeleton } from './states.tsx'

type Props<Data> = { query: UseQueryResult<Data, FlorinError>; children(data: Data): ReactNode }

/** Renders the data of a query, or its loading or error state. */
export function QueryBoundary<Data>({ query, children }: Props<Data>) {
  if (query.data !== undefined) return children(query.data)
  return (
    <Section>
      {query.error === null ? (
        <div role="status" aria-label="Loading" className="space-y-4">
          <Skeleton className="h-6 w-1/2" />
          <Skeleton className="h-24" />
        </div>
      ) : (
        <ErrorState problem={query.error} retry={() => void query.refetch()} />
      )}
    </Section>
  )
}
