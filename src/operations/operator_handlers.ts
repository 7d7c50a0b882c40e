import type { OperatorOperationName } from '#contract/operator/operations.ts'
import {
  findAccountsOfAll,
  getAccountOf,
  reinstateAccount,
  setAccountLimits,
  suspendAccount,
} from '#domain/accounts/administer_account.ts'
import { findUnpricedClearings, priceClearing } from '#domain/authorizations/price_clearing.ts'
import {
  approveRefund,
  findHeldRefunds,
  refuseRefund,
} from '#domain/authorizations/review_refund.ts'
import { cancelByAdmin, freezeByAdmin, unfreezeByAdmin } from '#domain/cards/administer_card.ts'
import { findCardsOfAll } from '#domain/cards/find_cards.ts'
import { shipCard } from '#domain/cards/ship_card.ts'
import { answerDispute } from '#domain/disputes/answer_dispute.ts'
import { closeDispute } from '#domain/disputes/close_dispute.ts'
import { findDisputes, getDisputeOf } from '#domain/disputes/find_disputes.ts'
import { operatorGetEvidence } from '#domain/disputes/operator_get_evidence.ts'
import { findGrantsOfAll, revokeByOperator } from '#domain/oauth_grants/administer_grants.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { findOperatorActions } from '#domain/operators/operator_actions.ts'
import { findKillSwitches, setKillSwitch } from '#domain/risk/kill_switches.ts'
import { findTickets } from '#domain/support/find_tickets.ts'
import { replyTicket, setTicketStatus } from '#domain/support/reply_ticket.ts'
import { figuresOf } from '#domain/system/figures.ts'
import { systemHealth } from '#domain/system/health.ts'
import { planMaintenance } from '#domain/system/plan_maintenance.ts'
import { reconcile } from '#domain/system/reconciliation.ts'
import { findSuspense, releaseSuspense } from '#domain/topups/suspense.ts'
import { findFailingWebhooks } from '#domain/webhooks/find_failing.ts'
import { refundSuspense, screenRefund } from '#domain/withdrawals/refund_suspense.ts'
import {
  approveWithdrawal,
  findWithdrawals,
  refuseWithdrawal,
} from '#domain/withdrawals/review_withdrawal.ts'
import type { AddressScreener } from '#rails/screening/screening.ts'

/** Without a configured list there is nothing to reload. */
const reloadScreening = async ({ reload }: AddressScreener) =>
  reload === undefined ? { source: 'none', list_version: '' } : reload()

/** Name → handler. A missing one, or one of another operation, does not compile. */
export const operator_handlers: {
  readonly [Name in OperatorOperationName]: OperatorHandler<Name>
} = {
  operator_list_disputes: findDisputes,
  operator_get_dispute: getDisputeOf,
  operator_get_evidence: operatorGetEvidence,
  operator_answer_dispute: answerDispute,
  operator_close_dispute: closeDispute,

  operator_list_tickets: findTickets,
  operator_reply_ticket: replyTicket,
  operator_set_ticket_status: setTicketStatus,

  operator_list_cards: findCardsOfAll,
  operator_freeze_card: freezeByAdmin,
  operator_unfreeze_card: unfreezeByAdmin,
  operator_cancel_card: cancelByAdmin,
  operator_set_card_shipping: shipCard,

  operator_list_accounts: findAccountsOfAll,
  operator_get_account: getAccountOf,
  operator_suspend_account: suspendAccount,
  operator_reinstate_account: reinstateAccount,
  operator_set_account_limits: setAccountLimits,
  operator_list_grants: findGrantsOfAll,
  operator_revoke_grant: revokeByOperator,

  operator_list_held_deposits: findSuspense,
  operator_release_deposit: releaseSuspense,
  operator_refund_deposit: {
    prepare: async (context, input) => {
      await screenRefund(context, input)
      return refundSuspense
    },
  },
  operator_list_pending_conversions: findUnpricedClearings,
  operator_convert_clearing: priceClearing,
  operator_list_held_refunds: findHeldRefunds,
  operator_approve_refund: approveRefund,
  operator_refuse_refund: refuseRefund,
  operator_list_withdrawals: findWithdrawals,
  operator_approve_withdrawal: approveWithdrawal,
  operator_refuse_withdrawal: refuseWithdrawal,

  operator_list_kill_switches: async ({ tx }) => ({ data: await findKillSwitches(tx) }),
  operator_set_kill_switch: setKillSwitch,
  operator_announce_maintenance: ({ tx, now }, input) => planMaintenance(tx, input, now),
  operator_list_failing_webhooks: findFailingWebhooks,
  operator_reload_screening: {
    prepare: async ({ screener }) => {
      const reloaded = await reloadScreening(screener)
      return async () => reloaded
    },
  },
  operator_get_reconciliation: {
    prepare: async ({ db, settings, now }) => {
      const compared = await reconcile({ db, settings }, now)
      return async () => compared
    },
  },
  operator_get_figures: ({ tx, now }, input) => figuresOf(tx, input, now),
  operator_get_health: (context) => systemHealth(context, context.now),
  operator_list_actions: async ({ tx }, input) => ({ data: await findOperatorActions(tx, input) }),
}
