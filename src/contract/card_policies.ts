import type { OperationName } from './operations.ts'

/**
 * What a token that is tied to certain cards may do, operation by operation. Scopes say which
 * tools; this says for which cards. It stands above what the rooms do, so that a room that forgets
 * about cards leaks nothing.
 *
 * - open: has nothing to do with a card
 * - denied: changes or shows the account as a whole
 * - card: the named field of the input is the card
 * - rows: each row of the answer names its card in the field; rows of other cards are left out
 * - answer: the answer names its card in the field
 * - through: another operation, given the named field as its id, tells the card first
 */
export type CardPolicy =
  | 'open'
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
  // Its rows are the loads and refunds of every card, and without some of them it adds up to
  // nothing.
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

  // A subscription hears of every card, and a replay may carry any of them.
  list_webhooks: 'denied',
  create_webhook: 'denied',
  update_webhook: 'denied',
  delete_webhook: 'denied',
  replay_webhook: 'denied',

  open_ticket: 'denied',
  list_tickets: 'denied',
  get_system_health: 'open',
  get_limits: 'open',
}
