import type { OperatorOperationName } from '#contract/operator/operations.ts'
import { operatorAddNote } from '#domain/accounts/operator_add_note.ts'
import { operatorGetAccount } from '#domain/accounts/operator_get_account.ts'
import { operatorListAccounts } from '#domain/accounts/operator_list_accounts.ts'
import { operatorListNotes } from '#domain/accounts/operator_list_notes.ts'
import { operatorReinstateAccount } from '#domain/accounts/operator_reinstate_account.ts'
import { operatorSetAccountLimits } from '#domain/accounts/operator_set_account_limits.ts'
import { operatorSuspendAccount } from '#domain/accounts/operator_suspend_account.ts'
import { operatorApproveRefund } from '#domain/authorizations/operator_approve_refund.ts'
import { operatorConvertClearing } from '#domain/authorizations/operator_convert_clearing.ts'
import { operatorListConversions } from '#domain/authorizations/operator_list_conversions.ts'
import { operatorListHeldRefunds } from '#domain/authorizations/operator_list_held_refunds.ts'
import { operatorRefuseRefund } from '#domain/authorizations/operator_refuse_refund.ts'
import { operatorCancelCard } from '#domain/cards/operator_cancel_card.ts'
import { operatorFreezeCard } from '#domain/cards/operator_freeze_card.ts'
import { operatorListCards } from '#domain/cards/operator_list_cards.ts'
import { operatorSetCardShipping } from '#domain/cards/operator_set_card_shipping.ts'
import { operatorUnfreezeCard } from '#domain/cards/operator_unfreeze_card.ts'
import { operatorAnswerDispute } from '#domain/disputes/operator_answer_dispute.ts'
import { operatorCloseDispute } from '#domain/disputes/operator_close_dispute.ts'
import { operatorGetDispute } from '#domain/disputes/operator_get_dispute.ts'
import { operatorGetEvidence } from '#domain/disputes/operator_get_evidence.ts'
import { operatorListDisputes } from '#domain/disputes/operator_list_disputes.ts'
import { operatorListGrants } from '#domain/oauth_grants/operator_list_grants.ts'
import { operatorRevokeGrant } from '#domain/oauth_grants/operator_revoke_grant.ts'
import type { OperatorHandler, PreparedOperatorHandler } from '#domain/operators/operator.ts'
import { operatorListActions } from '#domain/operators/operator_list_actions.ts'
import { operatorListKillSwitches } from '#domain/risk/operator_list_kill_switches.ts'
import { operatorSetKillSwitch } from '#domain/risk/operator_set_kill_switch.ts'
import { operatorListTickets } from '#domain/support/operator_list_tickets.ts'
import { operatorReplyTicket } from '#domain/support/operator_reply_ticket.ts'
import { operatorSetTicketStatus } from '#domain/support/operator_set_ticket_status.ts'
import { operatorAnnounceMaintenance } from '#domain/system/operator_announce_maintenance.ts'
import { operatorGetFigures } from '#domain/system/operator_get_figures.ts'
import { operatorGetHealth } from '#domain/system/operator_get_health.ts'
import { operatorGetReconciliation } from '#domain/system/operator_get_reconciliation.ts'
import { operatorReloadScreening } from '#domain/system/operator_reload_screening.ts'
import { operatorListHeldDeposits } from '#domain/topups/operator_list_held_deposits.ts'
import { operatorReleaseDeposit } from '#domain/topups/operator_release_deposit.ts'
import { operatorListTransactions } from '#domain/transactions/operator_list_transactions.ts'
import { operatorListFailingWebhooks } from '#domain/webhooks/operator_list_failing_webhooks.ts'
import { operatorApproveWithdrawal } from '#domain/withdrawals/operator_approve_withdrawal.ts'
import { operatorListWithdrawals } from '#domain/withdrawals/operator_list_withdrawals.ts'
import { operatorRefundDeposit } from '#domain/withdrawals/operator_refund_deposit.ts'
import { operatorRefuseWithdrawal } from '#domain/withdrawals/operator_refuse_withdrawal.ts'

/** Name → handler. A missing one, or one of another operation, does not compile. */
export const operator_handlers: {
  readonly [Name in OperatorOperationName]: OperatorHandler<Name> | PreparedOperatorHandler<Name>
} = {
  operator_list_disputes: operatorListDisputes,
  operator_get_dispute: operatorGetDispute,
  operator_get_evidence: operatorGetEvidence,
  operator_answer_dispute: operatorAnswerDispute,
  operator_close_dispute: operatorCloseDispute,

  operator_list_tickets: operatorListTickets,
  operator_reply_ticket: operatorReplyTicket,
  operator_set_ticket_status: operatorSetTicketStatus,

  operator_list_cards: operatorListCards,
  operator_freeze_card: operatorFreezeCard,
  operator_unfreeze_card: operatorUnfreezeCard,
  operator_cancel_card: operatorCancelCard,
  operator_set_card_shipping: operatorSetCardShipping,

  operator_list_transactions: operatorListTransactions,
  operator_list_accounts: operatorListAccounts,
  operator_get_account: operatorGetAccount,
  operator_suspend_account: operatorSuspendAccount,
  operator_reinstate_account: operatorReinstateAccount,
  operator_set_account_limits: operatorSetAccountLimits,
  operator_list_notes: operatorListNotes,
  operator_add_note: operatorAddNote,
  operator_list_grants: operatorListGrants,
  operator_revoke_grant: operatorRevokeGrant,

  operator_list_held_deposits: operatorListHeldDeposits,
  operator_release_deposit: operatorReleaseDeposit,
  operator_refund_deposit: operatorRefundDeposit,
  operator_list_conversions: operatorListConversions,
  operator_convert_clearing: operatorConvertClearing,
  operator_list_held_refunds: operatorListHeldRefunds,
  operator_approve_refund: operatorApproveRefund,
  operator_refuse_refund: operatorRefuseRefund,
  operator_list_withdrawals: operatorListWithdrawals,
  operator_approve_withdrawal: operatorApproveWithdrawal,
  operator_refuse_withdrawal: operatorRefuseWithdrawal,

  operator_list_kill_switches: operatorListKillSwitches,
  operator_set_kill_switch: operatorSetKillSwitch,
  operator_announce_maintenance: operatorAnnounceMaintenance,
  operator_list_failing_webhooks: operatorListFailingWebhooks,
  operator_reload_screening: operatorReloadScreening,
  operator_get_reconciliation: operatorGetReconciliation,
  operator_get_figures: operatorGetFigures,
  operator_get_health: operatorGetHealth,
  operator_list_actions: operatorListActions,
}
