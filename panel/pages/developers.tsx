import { type ComponentType, lazy, Suspense } from 'react'
import { Link, Redirect } from 'wouter'
import { classes } from '#panel/ui/classes.ts'
import { PageHeader } from '#panel/ui/section.tsx'
import { Skeleton } from '#panel/ui/states.tsx'
import { bringIntoView, tab_class, tab_row_class } from '#panel/ui/tabs.tsx'
import { ApiKeys } from './developers/api_keys.tsx'
import { AuditLog } from './developers/audit_log.tsx'
import { Limits } from './developers/limits.tsx'
import { Webhooks } from './developers/webhooks.tsx'
import { NotFound } from './not_found.tsx'

/** Loaded on demand, because it contains the schemas of all operations. */
const Requests = lazy(() =>
  import('./developers/requests.tsx').then(({ Requests: tab }) => ({ default: tab })),
)

const tabs: Readonly<Record<string, readonly [title: string, tab: ComponentType]>> = {
  keys: ['API keys', ApiKeys],
  webhooks: ['Webhooks', Webhooks],
  requests: ['Requests', Requests],
  audit: ['Audit log', AuditLog],
  limits: ['Limits', Limits],
}

export function Developers({ id }: { id: string }) {
  const name = id === '' ? 'keys' : id
  // Agents had a tab here; links in older emails lead to it.
  if (name === 'agents') return <Redirect to="/agents" replace />
  const tab = tabs[name]
  if (tab === undefined) return <NotFound />
  const [, TabContent] = tab
  return (
    <>
      <PageHeader title="Developers" description="API keys, webhooks, and the audit log." />
      <nav aria-label="Developers" className={tab_row_class}>
        {Object.entries(tabs).map(([each, [title]]) => (
          <Link
            key={each}
            href={`/developers/${each}`}
            aria-current={each === name ? 'page' : undefined}
            ref={each === name ? bringIntoView : null}
            className={classes(tab_class, each === name && 'border-accent text-ink')}
          >
            {title}
          </Link>
        ))}
      </nav>
      <Suspense fallback={<Skeleton className="h-64" />}>
        <TabContent />
      </Suspense>
    </>
  )
}
