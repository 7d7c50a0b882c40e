import Type from 'typebox'
import { Id, Input, Page, pageQuery, StringEnum } from '#contract/shapes.ts'
import { Topup } from '#contract/topups.ts'
import { Withdrawal } from '#contract/withdrawals.ts'
import { operatorCall } from './operator_call.ts'
import {
  AccountFilter,
  HeldDeposit,
  HeldRefund,
  owned,
  Reconciliation,
  UnpricedClearing,
} from './shapes.ts'

const ofWithdrawal = Input({ id: Id('wd', 'The withdrawal.') })
const ofHeldRefund = Input({ id: Id('txn', 'The held refund.') })
const ofSuspense = Input({ id: Id('bal', 'The deposit in suspense.') })

/** Money that waits for a person, and whether all of it is there. */
export const money_calls = {
  list_suspense: operatorCall({
    name: 'list_suspense',
    method: 'GET',
    path: '/suspense',
    role: 'viewer',
    summary: 'Deposits that were held.',
    input: Input({ ...pageQuery }),
    output: Page(HeldDeposit),
  }),
  release_suspense: operatorCall({
    name: 'release_suspense',
    method: 'POST',
    path: '/suspense/{id}/release',
    role: 'risk',
    summary: 'Credit a deposit that was held.',
    input: ofSuspense,
    output: Topup,
    problems: ['kill_switch_active'],
  }),
  refund_suspense: operatorCall({
    name: 'refund_suspense',
    method: 'POST',
    path: '/suspense/{id}/refund',
    role: 'risk',
    summary: 'Send a held deposit back to its sender.',
    input: ofSuspense,
    output: Topup,
    problems: ['kill_switch_active', 'address_blocked', 'invalid_address'],
  }),
  list_unpriced_clearings: operatorCall({
    name: 'list_unpriced_clearings',
    method: 'GET',
    path: '/unpriced_clearings',
    role: 'viewer',
    summary: 'Captures and refunds in a foreign currency whose dollars nobody has said.',
    input: Input({ ...pageQuery }),
    output: Page(UnpricedClearing),
  }),
  price_clearing: operatorCall({
    name: 'price_clearing',
    method: 'POST',
    path: '/unpriced_clearings/{id}/price',
    role: 'risk',
    summary: 'Say what a clearing is in dollars; it is booked within seconds.',
    input: Input({
      id: Id('txn', 'The clearing.'),
      amount_usd: Type.Number({ description: 'What it is in dollars, in whole cents.' }),
    }),
    output: UnpricedClearing,
    problems: ['invalid_amount'],
  }),
  list_held_refunds: operatorCall({
    name: 'list_held_refunds',
    method: 'GET',
    path: '/held_refunds',
    role: 'viewer',
    summary: 'Refunds without a purchase, or of more than it took, that wait for approval.',
    input: Input({ ...pageQuery }),
    output: Page(HeldRefund),
  }),
  approve_refund: operatorCall({
    name: 'approve_refund',
    method: 'POST',
    path: '/held_refunds/{id}/approve',
    role: 'risk',
    summary: 'Credit a held refund; it is booked within seconds.',
    input: ofHeldRefund,
    output: HeldRefund,
  }),
  refuse_refund: operatorCall({
    name: 'refuse_refund',
    method: 'POST',
    path: '/held_refunds/{id}/refuse',
    role: 'risk',
    summary: 'Do not credit a held refund.',
    input: ofHeldRefund,
    output: HeldRefund,
  }),
  list_withdrawals: operatorCall({
    name: 'list_withdrawals',
    method: 'GET',
    path: '/withdrawals',
    role: 'viewer',
    summary: 'Withdrawals of all accounts; review: those that wait for a person.',
    input: Input({
      ...pageQuery,
      status: Type.Optional(
        StringEnum(['review', 'pending', 'broadcasted', 'completed', 'failed'], {
          description: 'Only those.',
        }),
      ),
      account_id: AccountFilter,
    }),
    output: Page(
      Type.Object({
        ...owned(Withdrawal).properties,
        refund_of: Type.Union([Type.String(), Type.Null()], {
          description: 'The held deposit that it sends back to its sender, if it does.',
        }),
        in_review: Type.Boolean({ description: 'Whether it waits for a person.' }),
      }),
    ),
  }),
  approve_withdrawal: operatorCall({
    name: 'approve_withdrawal',
    method: 'POST',
    path: '/withdrawals/{id}/approve',
    role: 'risk',
    summary: 'Let a withdrawal go.',
    input: ofWithdrawal,
    output: Withdrawal,
    problems: ['kill_switch_active', 'account_suspended'],
  }),
  refuse_withdrawal: operatorCall({
    name: 'refuse_withdrawal',
    method: 'POST',
    path: '/withdrawals/{id}/refuse',
    role: 'risk',
    summary: 'Refuse a withdrawal; all of it goes back to the balance.',
    input: ofWithdrawal,
    output: Withdrawal,
  }),
  reload_screening: operatorCall({
    name: 'reload_screening',
    method: 'POST',
    path: '/screening/reload',
    role: 'risk',
    summary: 'Read the screening list again, now.',
    input: Input({}),
    output: Type.Object({
      source: Type.String({ description: 'What answers.' }),
      list_version: Type.String({ description: 'Which state of the list it answers from.' }),
    }),
    is_outside: true,
  }),
  get_reconciliation: operatorCall({
    name: 'get_reconciliation',
    method: 'GET',
    path: '/reconciliation',
    role: 'viewer',
    shows_no_holder: true,
    summary: 'The books against custody on chains and against the card networks.',
    input: Input({}),
    output: Reconciliation,
  }),
} as const
