import { Link } from 'wouter'
import type { ActivityEvent } from '#contract/activity.ts'
import { typographic } from '#kernel/typographic.ts'
import { resourceHref } from '#panel/pages/activity/resource_href.ts'
import { useOperationQuery } from '#panel/queries.ts'
import { classes } from '#panel/ui/classes.ts'
import {
  Activity,
  ArrowDownToLine,
  CreditCard,
  type LucideIcon,
  TriangleAlert,
} from '#panel/ui/icons.ts'
import { Section } from '#panel/ui/section.tsx'
import { EmptyState, ErrorState, Skeleton } from '#panel/ui/states.tsx'
import { Time } from '#panel/ui/time.tsx'

const icons: Record<ActivityEvent['type'], LucideIcon> = {
  topup: ArrowDownToLine,
  card: CreditCard,
  spend: Activity,
  error: TriangleAlert,
}

export function RecentActivity() {
  const latest = useOperationQuery('get_activity', { limit: 8 })
  const all = (
    <Link href="/activity" className="text-sm font-medium text-accent hover:underline">
      View all
    </Link>
  )
  return (
    <Section title="Recent activity" action={all} flush>
      {latest.data === undefined ? (
        latest.error === null ? (
          <Skeleton className="m-4 h-32" />
        ) : (
          <ErrorState problem={latest.error} retry={() => void latest.refetch()} />
        )
      ) : latest.data.data.length === 0 ? (
        <EmptyState icon={Activity} title="No activity yet">
          Deposits, purchases, and card changes show up here.
        </EmptyState>
      ) : (
        <ul className="divide-y divide-line">
          {latest.data.data.map((event) => (
            <ActivityLine key={event.id} event={event} />
          ))}
        </ul>
      )}
    </Section>
  )
}

function ActivityLine({ event }: { event: ActivityEvent }) {
  const Icon = event.severity === 'error' ? TriangleAlert : icons[event.type]
  return (
    <li>
      <Link
        href={resourceHref(event)}
        className="flex items-start gap-3 px-4 py-2.5 hover:bg-hover"
      >
        <Icon
          aria-hidden
          className={classes(
            'mt-0.5 size-4 shrink-0 text-soft',
            event.severity !== 'info' && 'text-warn',
          )}
        />
        <span className="min-w-0 flex-1 wrap-anywhere">{typographic(event.message)}</span>
        <span className="text-sm text-soft">
          <Time at={event.created_at} />
        </span>
      </Link>
    </li>
  )
}
