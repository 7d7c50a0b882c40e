import {
  create_account,
  disable_2fa,
  enable_2fa,
  get_account,
  sign_in,
  sign_out,
  update_account,
} from './accounts.ts'
import { filter_activity, get_activity, get_audit_log } from './activity.ts'
import { create_api_key, list_api_keys, revoke_api_key } from './api_keys.ts'
import { decide_approval, list_approvals } from './approvals.ts'
import { get_balance, get_balance_history } from './balance.ts'
import {
  cancel_card,
  freeze_card,
  get_card,
  issue_card,
  list_cards,
  load_card,
  replace_card,
  reveal_pan,
  set_card_geo,
  set_card_limits,
  set_mcc_rules,
  unfreeze_card,
  unload_card,
  update_card,
} from './card_operations.ts'
import { add_dispute_evidence, file_dispute, get_dispute, list_disputes } from './disputes.ts'
import type { InputOf, OperationShape, OutputOf } from './operation.ts'
import { request_password_reset, reset_password } from './password_resets.ts'
import { list_sessions, revoke_session } from './sessions.ts'
import { get_spending } from './spending.ts'
import { list_statements } from './statements.ts'
import { get_ticket, list_tickets, open_ticket, reply_ticket } from './support.ts'
import { get_limits, get_system_health } from './system.ts'
import { cancel_topup, create_topup, get_topup, list_topups } from './topups.ts'
import {
  get_auth_details,
  get_transaction,
  list_card_transactions,
  list_transactions,
} from './transactions.ts'
import {
  create_webhook,
  delete_webhook,
  list_webhooks,
  replay_webhook,
  update_webhook,
} from './webhooks.ts'
import { get_withdrawal, list_withdrawals, withdraw } from './withdrawals.ts'

/**
 * The 52 operations of the specification in its order, then the added ones. A record instead of an
 * array: the compiler looks an operation up by name instead of searching the array for every
 * handler.
 */
export const operations = {
  create_account,
  sign_in,
  sign_out,
  get_account,
  update_account,
  enable_2fa,
  disable_2fa,

  list_api_keys,
  create_api_key,
  revoke_api_key,

  get_balance,
  get_balance_history,

  create_topup,
  list_topups,
  get_topup,
  cancel_topup,

  list_cards,
  issue_card,
  get_card,
  reveal_pan,
  replace_card,
  load_card,
  unload_card,
  freeze_card,
  unfreeze_card,
  cancel_card,
  set_card_limits,
  set_mcc_rules,
  set_card_geo,

  list_transactions,
  get_transaction,
  list_card_transactions,
  get_auth_details,

  get_activity,
  filter_activity,
  get_audit_log,

  withdraw,
  list_withdrawals,
  get_withdrawal,

  file_dispute,
  list_disputes,
  get_dispute,
  add_dispute_evidence,

  list_webhooks,
  create_webhook,
  update_webhook,
  delete_webhook,
  replay_webhook,

  open_ticket,
  list_tickets,
  get_system_health,
  get_limits,

  // Not in the specification:
  request_password_reset,
  reset_password,
  list_sessions,
  revoke_session,
  update_card,
  get_ticket,
  reply_ticket,
  get_spending,
  list_statements,
  list_approvals,
  decide_approval,
} as const satisfies Readonly<Record<string, OperationShape>>

export type OperationName = keyof typeof operations
export type InputOfName<Name extends OperationName> = InputOf<(typeof operations)[Name]>
export type OutputOfName<Name extends OperationName> = OutputOf<(typeof operations)[Name]>
