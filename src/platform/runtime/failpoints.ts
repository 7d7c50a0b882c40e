/**
 * Named points where a test can fail or kill the process. In production they do nothing. The list
 * lets a crash test cover all of them.
 */
export const failpoints = [
  'before_begin',
  'after_handler',
  'before_commit',
  'after_commit',
  'before_reply',
  'before_sign',
  'after_replacement_signed',
  'after_sign',
  'after_transfer_stored',
  'after_broadcast',
  'after_broadcast_noted',
  'before_withdrawal_settled',
  'after_withdrawal_settled',
  'events_fanned_out',
  'delivery_leased',
  'delivery_sent',
  'delivery_recorded',
  'payment_reserved',
  'payment_signed',
  'payment_sent',
  'payment_settled',
  'batch_transactions',
  'batch_postings',
  'batch_changes',
  'batch_early_reversals',
  'batch_cards',
  'batch_events',
  'batch_audit',
  'batch_messages',
] as const

export type Failpoint = (typeof failpoints)[number]
export type Fail = (point: Failpoint) => void

export const neverFail: Fail = () => undefined
