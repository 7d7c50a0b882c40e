import type { Topup } from '#contract/topups.ts'
import { Badge, Status } from '#panel/ui/badge.tsx'

/** Money that arrived and waits for us is on hold; the contract calls it an error. */
export const isOnHold = ({ status, status_reason }: Topup): boolean =>
  status === 'error' && (status_reason === 'kill_switch' || status_reason === 'screening')

/** Completed says nothing about a transfer that was smaller than requested. */
export function TopupStatus({ topup }: { topup: Topup }) {
  const { status, status_reason, payment_state } = topup
  if (isOnHold(topup)) return <Badge tone="warn">On hold</Badge>
  if (status === 'awaiting') return <Badge tone="warn">Awaiting deposit</Badge>
  if (status === 'error') return <Badge tone="bad">Failed</Badge>
  if (status === 'completed' && payment_state === 'partial')
    return <Badge tone="warn">Partly paid</Badge>
  // Nobody canceled it, and the email says that it expired.
  if (status === 'cancelled' && status_reason === 'expired') return <Badge>Expired</Badge>
  return <Status of={status} />
}
