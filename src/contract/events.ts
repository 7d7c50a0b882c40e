/** The events a webhook can subscribe to, with what each one means. */
export const event_types = {
  'account.created': 'A new account was registered.',
  'account.signed_in': 'A session was started.',
  'topup.created': 'A deposit address was issued.',
  'topup.confirmed': 'A deposit reached finality and was credited.',
  'topup.expired': 'The window of a deposit address closed.',
  'topup.error': 'A deposit could not be settled.',
  'card.issued': 'A new card is active.',
  'card.loaded': 'Funds were added to a card.',
  'card.frozen': 'A card was frozen by its owner, an agent or an administrator.',
  'card.cancelled': 'A card was permanently deactivated.',
  'transaction.authorized': 'A purchase was approved and its amount is held.',
  'transaction.captured': 'A purchase was settled by the merchant.',
  'transaction.refunded': 'A refund was received.',
  'transaction.declined': 'A purchase was declined; the decline code says why.',
  'dispute.opened': 'A chargeback was filed.',
  'dispute.resolved': 'A dispute was won or lost.',
  'withdrawal.broadcasted': 'A withdrawal was sent to its chain.',
  'system.maintenance': 'Maintenance is planned.',
} as const

export type EventType = keyof typeof event_types
