import type { OperationName } from '#contract/operations.ts'
import { createAccount } from '#domain/accounts/create_account.ts'
import { disable2fa } from '#domain/accounts/disable_2fa.ts'
import { enable2fa } from '#domain/accounts/enable_2fa.ts'
import { getAccount } from '#domain/accounts/get_account.ts'
import { listSessions } from '#domain/accounts/list_sessions.ts'
import { requestPasswordReset } from '#domain/accounts/request_password_reset.ts'
import { resetPassword } from '#domain/accounts/reset_password.ts'
import { revokeSession } from '#domain/accounts/revoke_session.ts'
import { signIn } from '#domain/accounts/sign_in.ts'
import { signOut } from '#domain/accounts/sign_out.ts'
import { updateAccount } from '#domain/accounts/update_account.ts'
import { filterActivity } from '#domain/activity/filter_activity.ts'
import { getActivity } from '#domain/activity/get_activity.ts'
import { getAuditLog } from '#domain/activity/get_audit_log.ts'
import { createApiKey } from '#domain/api_keys/create_api_key.ts'
import { listApiKeys } from '#domain/api_keys/list_api_keys.ts'
import { revokeApiKey } from '#domain/api_keys/revoke_api_key.ts'
import { getBalance } from '#domain/balance/get_balance.ts'
import { getBalanceHistory } from '#domain/balance/get_balance_history.ts'
import { decideApproval } from '#domain/budgets/decide_approval.ts'
import { listApprovals } from '#domain/budgets/list_approvals.ts'
import { cancelCard } from '#domain/cards/cancel_card.ts'
import { freezeCard } from '#domain/cards/freeze_card.ts'
import { getCard } from '#domain/cards/get_card.ts'
import { issueCard } from '#domain/cards/issue_card.ts'
import { listCards } from '#domain/cards/list_cards.ts'
import { loadCard } from '#domain/cards/load_card.ts'
import { replaceCard } from '#domain/cards/replace_card.ts'
import { revealPan } from '#domain/cards/reveal_pan.ts'
import { setCardGeo } from '#domain/cards/set_card_geo.ts'
import { setCardLimits } from '#domain/cards/set_card_limits.ts'
import { setMccRules } from '#domain/cards/set_mcc_rules.ts'
import { unfreezeCard } from '#domain/cards/unfreeze_card.ts'
import { unloadCard } from '#domain/cards/unload_card.ts'
import { updateCard } from '#domain/cards/update_card.ts'
import type { Context, Handler, PreparingContext } from '#domain/context/context.ts'
import { addDisputeEvidence } from '#domain/disputes/add_dispute_evidence.ts'
import { fileDispute } from '#domain/disputes/file_dispute.ts'
import { getDispute } from '#domain/disputes/get_dispute.ts'
import { listDisputes } from '#domain/disputes/list_disputes.ts'
import type { Operator } from '#domain/operators/operator.ts'
import { operatorSignIn } from '#domain/operators/operator_sign_in.ts'
import { listStatements } from '#domain/statements/list_statements.ts'
import { getTicket } from '#domain/support/get_ticket.ts'
import { listTickets } from '#domain/support/list_tickets.ts'
import { openTicket } from '#domain/support/open_ticket.ts'
import { replyTicket } from '#domain/support/reply_ticket.ts'
import { getLimits } from '#domain/system/get_limits.ts'
import { getSystemHealth } from '#domain/system/get_system_health.ts'
import { cancelTopup } from '#domain/topups/cancel_topup.ts'
import { createTopup } from '#domain/topups/create_topup.ts'
import { getTopup } from '#domain/topups/get_topup.ts'
import { listTopups } from '#domain/topups/list_topups.ts'
import { getAuthDetails } from '#domain/transactions/get_auth_details.ts'
import { getSpending } from '#domain/transactions/get_spending.ts'
import { getTransaction } from '#domain/transactions/get_transaction.ts'
import { listCardTransactions } from '#domain/transactions/list_card_transactions.ts'
import { listTransactions } from '#domain/transactions/list_transactions.ts'
import { createWebhook } from '#domain/webhooks/create_webhook.ts'
import { deleteWebhook } from '#domain/webhooks/delete_webhook.ts'
import { listWebhooks } from '#domain/webhooks/list_webhooks.ts'
import { replayWebhook } from '#domain/webhooks/replay_webhook.ts'
import { updateWebhook } from '#domain/webhooks/update_webhook.ts'
import { getWithdrawal } from '#domain/withdrawals/get_withdrawal.ts'
import { listWithdrawals } from '#domain/withdrawals/list_withdrawals.ts'
import { withdraw } from '#domain/withdrawals/withdraw.ts'
import { operator_handlers } from './operator_handlers.ts'

/** Name → handler. A missing one, or one of another operation, does not compile. */
const handlers: { readonly [Name in OperationName]: Handler<Name> } = {
  create_account: createAccount,
  sign_in: signIn,
  sign_out: signOut,
  get_account: getAccount,
  update_account: updateAccount,
  enable_2fa: enable2fa,
  disable_2fa: disable2fa,

  list_api_keys: listApiKeys,
  create_api_key: createApiKey,
  revoke_api_key: revokeApiKey,

  get_balance: getBalance,
  get_balance_history: getBalanceHistory,

  create_topup: createTopup,
  list_topups: listTopups,
  get_topup: getTopup,
  cancel_topup: cancelTopup,

  list_cards: listCards,
  issue_card: issueCard,
  get_card: getCard,
  reveal_pan: revealPan,
  replace_card: replaceCard,
  load_card: loadCard,
  unload_card: unloadCard,
  freeze_card: freezeCard,
  unfreeze_card: unfreezeCard,
  cancel_card: cancelCard,
  set_card_limits: setCardLimits,
  set_mcc_rules: setMccRules,
  set_card_geo: setCardGeo,

  list_transactions: listTransactions,
  get_transaction: getTransaction,
  list_card_transactions: listCardTransactions,
  get_auth_details: getAuthDetails,

  get_activity: getActivity,
  filter_activity: filterActivity,
  get_audit_log: getAuditLog,

  withdraw,
  list_withdrawals: listWithdrawals,
  get_withdrawal: getWithdrawal,

  file_dispute: fileDispute,
  list_disputes: listDisputes,
  get_dispute: getDispute,
  add_dispute_evidence: addDisputeEvidence,

  list_webhooks: listWebhooks,
  create_webhook: createWebhook,
  update_webhook: updateWebhook,
  delete_webhook: deleteWebhook,
  replay_webhook: replayWebhook,

  open_ticket: openTicket,
  list_tickets: listTickets,
  get_system_health: getSystemHealth,
  get_limits: getLimits,

  // Not in the specification:
  request_password_reset: requestPasswordReset,
  reset_password: resetPassword,
  list_sessions: listSessions,
  revoke_session: revokeSession,
  update_card: updateCard,
  get_ticket: getTicket,
  reply_ticket: replyTicket,
  get_spending: getSpending,
  list_statements: listStatements,
  list_approvals: listApprovals,
  decide_approval: decideApproval,
}

/** A handler whose operation is known only by name; the contract has checked its input. */
export type AnyHandler =
  | Run
  | {
      prepare(context: AnyPreparingContext, input: Input): Promise<Run>
      replay?(context: Context, stored: object, input: object): Promise<object>
    }
export type Run = (context: AnyContext, input: Input) => Promise<object>
export type AnyContext = Context & { operator: Operator | null }
export type AnyPreparingContext = PreparingContext & { operator: Operator | null }
type Input = Record<string, unknown>

const every_handler = { ...handlers, ...operator_handlers, operator_sign_in: operatorSignIn }

export function handlerOf(name: string): AnyHandler {
  return every_handler[name as keyof typeof every_handler] as unknown as AnyHandler
}
