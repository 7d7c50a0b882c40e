import { useOperationList } from '#panel/queries.ts'
import { Badge } from '#panel/ui/badge.tsx'

/** The number of approvals that wait for the owner; nothing if there are none. */
export function PendingApprovals() {
  const { rows = [], has_more } = useOperationList('list_approvals', { status: 'pending' })
  if (rows.length === 0) return null
  return (
    <Badge tone="warn">
      {rows.length}
      {has_more && '+'}
      <span className="sr-only"> waiting</span>
    </Badge>
  )
}
