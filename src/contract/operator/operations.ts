import type { InputOf, Operation, OutputOf } from '#contract/operation.ts'
import { operations } from '#contract/operations.ts'
import {
  operator_get_account,
  operator_list_accounts,
  operator_list_grants,
  operator_reinstate_account,
  operator_revoke_grant,
  operator_set_account_limits,
  operator_suspend_account,
} from './accounts.ts'
import {
  operator_cancel_card,
  operator_freeze_card,
  operator_list_cards,
  operator_set_card_shipping,
  operator_unfreeze_card,
} from './cards.ts'
import {
  operator_answer_dispute,
  operator_close_dispute,
  operator_get_dispute,
  operator_get_evidence,
  operator_list_disputes,
} from './disputes.ts'
import {
  operator_approve_refund,
  operator_approve_withdrawal,
  operator_convert_clearing,
  operator_list_conversions,
  operator_list_held_deposits,
  operator_list_held_refunds,
  operator_list_withdrawals,
  operator_refund_deposit,
  operator_refuse_refund,
  operator_refuse_withdrawal,
  operator_release_deposit,
} from './money.ts'
import { operator_add_note, operator_list_notes } from './notes.ts'
import type { OperatorOperation } from './operation.ts'
import {
  operator_announce_maintenance,
  operator_get_figures,
  operator_get_health,
  operator_get_reconciliation,
  operator_list_actions,
  operator_list_failing_webhooks,
  operator_list_kill_switches,
  operator_reload_screening,
  operator_set_kill_switch,
  operator_sign_in,
} from './system.ts'
import {
  operator_list_tickets,
  operator_reply_ticket,
  operator_set_ticket_status,
} from './tickets.ts'
import { operator_list_transactions } from './transactions.ts'

/** Every operation that requires an operator token. */
export const operator_operations = {
  operator_list_disputes,
  operator_get_dispute,
  operator_get_evidence,
  operator_answer_dispute,
  operator_close_dispute,

  operator_list_tickets,
  operator_reply_ticket,
  operator_set_ticket_status,

  operator_list_cards,
  operator_freeze_card,
  operator_unfreeze_card,
  operator_cancel_card,
  operator_set_card_shipping,

  operator_list_transactions,

  operator_list_accounts,
  operator_get_account,
  operator_suspend_account,
  operator_reinstate_account,
  operator_set_account_limits,
  operator_list_notes,
  operator_add_note,
  operator_list_grants,
  operator_revoke_grant,

  operator_list_held_deposits,
  operator_release_deposit,
  operator_refund_deposit,
  operator_list_conversions,
  operator_convert_clearing,
  operator_list_held_refunds,
  operator_approve_refund,
  operator_refuse_refund,
  operator_list_withdrawals,
  operator_approve_withdrawal,
  operator_refuse_withdrawal,

  operator_list_kill_switches,
  operator_set_kill_switch,
  operator_announce_maintenance,
  operator_list_failing_webhooks,
  operator_reload_screening,
  operator_get_reconciliation,
  operator_get_figures,
  operator_get_health,
  operator_list_actions,
} as const satisfies Readonly<Record<string, OperatorOperation>>

export type OperatorOperationName = keyof typeof operator_operations
export type OperatorInput<Name extends OperatorOperationName> = InputOf<
  (typeof operator_operations)[Name]
>
export type OperatorOutput<Name extends OperatorOperationName> = OutputOf<
  (typeof operator_operations)[Name]
>

/** Everything the pipeline can run: the public API and the operator API. */
export const pipeline_operations = {
  ...operations,
  ...operator_operations,
  operator_sign_in,
} as const satisfies Readonly<Record<string, Operation>>

export type PipelineOperationName = keyof typeof pipeline_operations
