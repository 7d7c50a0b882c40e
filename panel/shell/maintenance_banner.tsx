import { useOperationQuery } from '#panel/queries.ts'
import { Wrench } from '#panel/ui/icons.ts'
import { Time } from '#panel/ui/time.tsx'

/** Nothing in the activity stream announces it. */
const REFETCH_MS = 60_000
/** The email comes with the announcement; a reminder is enough in the last week. */
const SHOWN_BEFORE_MS = 7 * 86_400_000

/** The next maintenance, or the one that is going on. */
export function MaintenanceBanner() {
  const health = useOperationQuery('get_system_health', {}, { refetchInterval: REFETCH_MS }).data
  if (health === undefined) return null
  const now = Date.parse(health.checked_at)
  const next = health.maintenance.find(
    ({ starts_at, ends_at }) =>
      Date.parse(starts_at) < now + SHOWN_BEFORE_MS && Date.parse(ends_at) > now,
  )
  if (next === undefined) return null
  const is_running = Date.parse(next.starts_at) <= now
  return (
    <p
      role="status"
      className="mb-5 flex gap-2.5 rounded-lg bg-warn-ground px-3 py-2.5 [&_svg]:mt-0.5 [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-warn"
    >
      <Wrench aria-hidden />
      <span className="min-w-0 wrap-anywhere">
        <span className="font-medium">
          {is_running ? 'Maintenance until ' : 'Scheduled maintenance: '}
          {!is_running && (
            <>
              <Time at={next.starts_at} /> to{' '}
            </>
          )}
          <Time at={next.ends_at} {...(!is_running && { start: next.starts_at })} />.
        </span>{' '}
        {next.message}
      </span>
    </p>
  )
}
