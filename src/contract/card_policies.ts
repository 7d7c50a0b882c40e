import type { OperationName } from './operations.ts'

/**
 * Policies for OAuth tokens restricted to certain cards, per operation. Scopes decide which
 * operations it may call, card policies decide for which cards. The pipeline enforces them, so a
 * handler that forgets about card restrictions leaks nothing.
 *
 * - open: not related to a card
 * - filtered: a sum, for which the handler counts the token's cards only
 * - denied: affects or shows the account as a whole
 * - card: this input field is the card ID
 * - rows: this field of each row is the card ID; rows of other cards are removed
 * - answer: this field of the response is the card ID
 * - through: call this operation first, with the field `by` as its ID, to find the card
 */
export type CardPolicy =
  | 'open'
  | 'filtered'
  | 'denied'
  | { card: string }
  | { rows: string }
  | { answer: string }
  | { through: OperationName; by: string }

const of_card = { card: 'id' } as const
const rows_by_card = { rows: 'card_id' } as const

export const card_policies: Readonly<Record<OperationName, CardPolicy>> = {
  create_account: 'open',
  sign_in: 'open',
  sign_out: 'denied',
  get_account: 'open',
  update_account: 'denied',
  enable_2fa: 'denied',
  disable_2fa: 'denied',

  list_api_keys: 'denied',
  create_api_key: 'denied',
  revoke_api_key: 'denied',

  get_balance: 'open',
  // Loads and refunds of all cards are mixed here, and a filtered history would not add up.
  get_balance_history: 'denied',

  create_topup: 'denied',
  list_topups: 'open',
  get_topup: 'open',
  cancel_topup: 'denied',

  list_cards: { rows: 'id' },
  issue_card: 'denied',
  get_card: of_card,
  reveal_pan: of_card,
  replace_card: of_card,
  load_card: of_card,
  unload_card: of_card,
  freeze_card: of_card,
  unfreeze_card: of_card,
  cancel_card: of_card,
  set_card_limits: of_card,
  set_mcc_rules: of_card,
  set_card_geo: of_card,

  list_transactions: rows_by_card,
  get_transaction: { answer: 'card_id' },
  list_card_transactions: of_card,
  get_auth_details: { through: 'get_transaction', by: 'id' },

  get_activity: rows_by_card,
  filter_activity: rows_by_card,
  get_audit_log: 'denied',

  withdraw: 'denied',
  list_withdrawals: 'open',
  get_withdrawal: 'open',

  file_dispute: { through: 'get_transaction', by: 'transaction_id' },
  list_disputes: rows_by_card,
  get_dispute: { answer: 'card_id' },
  add_dispute_evidence: { through: 'get_dispute', by: 'id' },

  // A subscription receives the events of every card, and a replay may send any of them.
  list_webhooks: 'denied',
  create_webhook: 'denied',
  update_webhook: 'denied',
  delete_webhook: 'denied',
  replay_webhook: 'denied',

  open_ticket: 'denied',
  list_tickets: 'denied',
  get_system_health: 'open',
  get_limits: 'open',

  // Not in the specification:
  request_password_reset: 'open',
  reset_password: 'open',
  list_sessions: 'denied',
  revoke_session: 'denied',
  update_card: of_card,
  get_ticket: 'denied',
  reply_ticket: 'denied',
  get_spending: 'filtered',
  list_statements: 'denied',
  list_approvals: 'open',
  decide_approval: 'denied',
}
