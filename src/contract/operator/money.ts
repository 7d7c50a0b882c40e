import Type from 'typebox'
import { Id, Input, Page, pageQuery, StringEnum, UsdInput } from '#contract/shapes.ts'
import { Topup } from '#contract/topups.ts'
import { Withdrawal } from '#contract/withdrawals.ts'
import { operatorOperation } from './operation.ts'
import {
  AccountFilter,
  HeldDeposit,
  HeldRefund,
  listed,
  owned,
  PendingConversion,
} from './shapes.ts'

const HeldDepositId = Id('bal', 'ID of the held deposit.')
const HeldRefundId = Id('txn', 'ID of the held refund.')
const WithdrawalId = Id('wd', 'ID of the withdrawal.')

export const operator_list_held_deposits = operatorOperation({
  name: 'operator_list_held_deposits',
  method: 'GET',
  path: '/suspense',
  role: 'viewer',
  summary: 'List deposits held in suspense.',
  input: Input({ ...pageQuery }),
  output: Page(listed(HeldDeposit)),
})

export const operator_release_deposit = operatorOperation({
  name: 'operator_release_deposit',
  method: 'POST',
  path: '/suspense/{id}/release',
  role: 'risk',
  summary: 'Credit a held deposit.',
  input: Input({ id: HeldDepositId }),
  output: Topup,
  problems: ['kill_switch_active'],
})

export const operator_refund_deposit = operatorOperation({
  name: 'operator_refund_deposit',
  method: 'POST',
  path: '/suspense/{id}/refund',
  role: 'risk',
  summary: 'Send a held deposit back to its sender.',
  input: Input({ id: HeldDepositId }),
  output: Topup,
  problems: ['kill_switch_active', 'address_blocked', 'invalid_address'],
})

export const operator_list_conversions = operatorOperation({
  name: 'operator_list_conversions',
  method: 'GET',
  path: '/pending_conversions',
  role: 'viewer',
  summary: 'List foreign-currency captures and refunds awaiting conversion to USD.',
  input: Input({ ...pageQuery }),
  output: Page(listed(PendingConversion)),
})

export const operator_convert_clearing = operatorOperation({
  name: 'operator_convert_clearing',
  method: 'POST',
  path: '/pending_conversions/{id}/convert',
  role: 'risk',
  summary: 'Enter the USD amount of a clearing. It is booked within seconds.',
  input: Input({
    id: Id('txn', 'ID of the clearing.'),
    amount_usd: UsdInput(
      "Amount in USD: more than 0, and at most 5 for each unit of the merchant's currency.",
    ),
  }),
  output: PendingConversion,
  problems: ['invalid_amount', 'amount_out_of_range'],
})

export const operator_list_held_refunds = operatorOperation({
  name: 'operator_list_held_refunds',
  method: 'GET',
  path: '/held_refunds',
  role: 'viewer',
  summary: 'List refunds awaiting approval: without a purchase, or above its amount.',
  input: Input({ ...pageQuery }),
  output: Page(listed(HeldRefund)),
})

export const operator_approve_refund = operatorOperation({
  name: 'operator_approve_refund',
  method: 'POST',
  path: '/held_refunds/{id}/approve',
  role: 'risk',
  summary: 'Approve a held refund. It is credited within seconds.',
  input: Input({ id: HeldRefundId }),
  output: HeldRefund,
})

export const operator_refuse_refund = operatorOperation({
  name: 'operator_refuse_refund',
  method: 'POST',
  path: '/held_refunds/{id}/refuse',
  role: 'risk',
  summary: 'Refuse a held refund.',
  input: Input({ id: HeldRefundId }),
  output: HeldRefund,
})

export const operator_list_withdrawals = operatorOperation({
  name: 'operator_list_withdrawals',
  method: 'GET',
  path: '/withdrawals',
  role: 'viewer',
  summary: 'List withdrawals of all accounts. Status review: those that await an operator.',
  input: Input({
    ...pageQuery,
    status: Type.Optional(
      StringEnum(['review', 'pending', 'broadcasted', 'completed', 'failed'], {
        description: 'Status to include.',
      }),
    ),
    account_id: AccountFilter,
  }),
  output: Page(
    Type.Object({
      ...owned(Withdrawal).properties,
      refund_of: Type.Union([Type.String(), Type.Null()], {
        description: 'ID of the held deposit it sends back, if any.',
      }),
      in_review: Type.Boolean({ description: 'True if it awaits an operator.' }),
    }),
  ),
})

export const operator_approve_withdrawal = operatorOperation({
  name: 'operator_approve_withdrawal',
  method: 'POST',
  path: '/withdrawals/{id}/approve',
  role: 'risk',
  summary: 'Approve a withdrawal. If its transfer is final, it counts as sent, without sending.',
  input: Input({ id: WithdrawalId }),
  output: Withdrawal,
  problems: ['kill_switch_active', 'account_suspended'],
})

export const operator_refuse_withdrawal = operatorOperation({
  name: 'operator_refuse_withdrawal',
  method: 'POST',
  path: '/withdrawals/{id}/refuse',
  role: 'risk',
  summary: 'Refuse a withdrawal. The full amount returns to the balance.',
  input: Input({ id: WithdrawalId }),
  output: Withdrawal,
})
