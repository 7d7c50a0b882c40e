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
import { findGrantsOfAll, revokeByOperator } from '#domain/oauth_grants/administer_grants.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import { findActs } from '#domain/operators/operator_acts.ts'
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
import type { CallName, calls } from './calls.ts'
import type { InputOfCall, OutputOfCall } from './operator_call.ts'

/** Where no list is configured there is none to read. */
const reloadScreening = async ({ reload }: AddressScreener) =>
  reload === undefined ? { source: 'none', list_version: '' } : reload()

type Act<Name extends CallName> = (
  context: OperatorContext,
  input: InputOfCall<(typeof calls)[Name]>,
) => Promise<OutputOfCall<(typeof calls)[Name]>>

/** Name → what does it, in its own room. A missing one does not compile. */
export const acts: { readonly [Name in CallName]: Act<Name> } = {
  list_disputes: findDisputes,
  get_dispute: getDisputeOf,
  answer_dispute: answerDispute,
  close_dispute: closeDispute,

  list_tickets: findTickets,
  reply_ticket: replyTicket,
  set_ticket_status: setTicketStatus,

  find_cards: findCardsOfAll,
  freeze_card: freezeByAdmin,
  unfreeze_card: unfreezeByAdmin,
  cancel_card: cancelByAdmin,
  ship_card: shipCard,

  find_accounts: findAccountsOfAll,
  get_account: getAccountOf,
  suspend_account: suspendAccount,
  reinstate_account: reinstateAccount,
  set_account_limits: setAccountLimits,

  list_kill_switches: async ({ tx }) => ({ data: await findKillSwitches(tx) }),
  set_kill_switch: setKillSwitch,
  announce_maintenance: ({ tx, now }, input) => planMaintenance(tx, input, now),

  list_unpriced_clearings: findUnpricedClearings,
  price_clearing: priceClearing,
  list_held_refunds: findHeldRefunds,
  approve_refund: approveRefund,
  refuse_refund: refuseRefund,

  list_suspense: findSuspense,
  release_suspense: releaseSuspense,
  refund_suspense: refundSuspense,
  list_withdrawals: findWithdrawals,
  approve_withdrawal: approveWithdrawal,
  refuse_withdrawal: refuseWithdrawal,

  reload_screening: ({ screener }) => reloadScreening(screener),
  list_failing_webhooks: findFailingWebhooks,
  get_reconciliation: (context) => reconcile(context, context.now),
  get_figures: ({ tx, now }, input) => figuresOf(tx, input, now),
  get_health: (context) => systemHealth(context, context.now),
  list_grants: findGrantsOfAll,
  revoke_grant: revokeByOperator,
  list_acts: async ({ tx }, input) => ({ data: await findActs(tx, input) }),
}

/** An act whose call is known only by name: the contract has checked what it is given. */
export type LooseAct = (
  context: OperatorContext,
  input: Record<string, unknown>,
) => Promise<unknown>

export const actOf = (name: string): LooseAct => acts[name as CallName] as unknown as LooseAct

/** What an act has to ask of the outside first. It may refuse; no transaction waits for it. */
const preparations: { readonly [Name in CallName]?: LooseAct } = {
  refund_suspense: screenRefund as unknown as LooseAct,
}

export const preparationOf = (name: string): LooseAct | undefined => preparations[name as CallName]
