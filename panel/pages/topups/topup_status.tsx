import type { Topup } from '#contract/topups.ts'
import { Badge, Status } from '#panel/ui/badge.tsx'

/** Completed says nothing about a transfer that was smaller than requested. */
export function TopupStatus({ topup: { status, payment_state } }: { topup: Topup }) {
  if (status === 'completed' && payment_state === 'partial')
    return <Badge tone="warn">Partly paid</Badge>
  return <Status of={status} />
}
