import type { ActivityEvent } from '#contract/activity.ts'

/** The page of each resource type. */
const resource_paths: Readonly<Record<string, string>> = {
  topup: '/topups',
  card: '/cards',
  transaction: '/transactions',
  dispute: '/disputes',
  withdrawal: '/withdrawals',
  approval: '/approvals',
  ticket: '/tickets',
  webhook: '/developers/webhooks',
}

/** The page of the resource that an event is about, or the nearest one. */
export function resourceHref({ resource, card_id }: ActivityEvent): string {
  const page = resource_paths[resource.type]
  if (page !== undefined) return `${page}/${resource.id}`
  return card_id === null ? '/settings' : `/cards/${card_id}`
}
