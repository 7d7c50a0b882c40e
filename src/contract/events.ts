/** The webhook event types that `*` includes, with their descriptions. */
export const event_types = {
  'account.created': 'An account was created.',
  'account.signed_in': 'A session was started.',
  'topup.created': 'A deposit address was created.',
  'topup.confirmed': 'A deposit became final and was credited.',
  'topup.expired': 'A deposit address expired.',
  'topup.error': 'A deposit could not be credited.',
  'card.issued': 'A card was issued and is active.',
  'card.loaded': 'Money was added to a card.',
  'card.frozen': 'A card was frozen by its owner, an agent or an administrator.',
  'card.cancelled': 'A card was permanently canceled.',
  'transaction.authorized': 'A purchase was approved and its amount is on hold.',
  'transaction.captured': 'A merchant captured a purchase.',
  'transaction.refunded': 'A refund was received.',
  'transaction.declined': 'A purchase was declined. `decline_code` gives the reason.',
  'dispute.opened': 'A dispute was filed.',
  'dispute.resolved': 'A dispute was won or lost.',
  'withdrawal.broadcasted': 'A withdrawal was sent to the blockchain.',
  'system.maintenance': 'Maintenance was scheduled.',
} as const

export type EventType = keyof typeof event_types

/** A webhook must name these; `*` does not include them, and they have no sequence number. */
export const named_event_types = {
  'approval.requested': 'An app asks to exceed its budget. The owner can approve or decline.',
  'approval.decided': 'The owner approved or declined a call of an app.',
} as const

export type NamedEventType = keyof typeof named_event_types

/** Events of the activity stream that webhooks cannot subscribe to. */
export const activity_only_types = [
  'card.unfrozen',
  'card.unloaded',
  'card.limits_updated',
  'card.mcc_updated',
  'card.geo_updated',
  'card.updated',
  'card.merchant_locked',
  'webhook.disabled',
  'balance.debt_incurred',
  'withdrawal.completed',
  'withdrawal.failed',
  'dispute.answered',
  'dispute.evidence_due',
  'dispute.credit_reduced',
  'transaction.adjusted',
  'transaction.reversed',
  'transaction.expired',
  'transaction.refund_reversed',
] as const

export type ActivityOnly = (typeof activity_only_types)[number]
