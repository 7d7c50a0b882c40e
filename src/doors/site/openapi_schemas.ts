import type { TSchema } from 'typebox'
import { Account, Notifications, StartedSession } from '#contract/accounts.ts'
import { ActivityEvent, AuditEntry } from '#contract/activity.ts'
import { ApiKey, NewApiKey } from '#contract/api_keys.ts'
import { Approval } from '#contract/approvals.ts'
import { Balance, BalancePoint } from '#contract/balance.ts'
import {
  Card,
  CardLimits,
  CardRules,
  CardTransfer,
  PanReveal,
  Shipping,
  Wallet,
} from '#contract/cards.ts'
import { Dispute, Evidence } from '#contract/disputes.ts'
import { operations } from '#contract/operations.ts'
import { ActiveSession } from '#contract/sessions.ts'
import { ErrorBody, Metadata } from '#contract/shapes.ts'
import { Spending } from '#contract/spending.ts'
import { Statement } from '#contract/statements.ts'
import { Ticket, TicketMessage } from '#contract/support.ts'
import { Maintenance, SystemHealth, SystemLimits } from '#contract/system.ts'
import { Topup } from '#contract/topups.ts'
import { AuthDetails, Transaction } from '#contract/transactions.ts'
import {
  Delivery,
  EventBody,
  NewWebhook,
  ThreeDsChallenge,
  ThreeDsDecision,
  Webhook,
} from '#contract/webhooks.ts'
import { Withdrawal } from '#contract/withdrawals.ts'

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

/**
 * Named schemas. They are matched by identity: wherever the contract uses the same value, the
 * document refers to it by name.
 */
export const named_schemas: Readonly<Record<string, TSchema>> = {
  Error: ErrorBody,
  Metadata,
  NewAccount: operations.create_account.output,
  Session: operations.sign_in.output,
  StartedSession,
  ActiveSession,
  ActiveSessionPage: operations.list_sessions.output,
  TwoFactor: operations.enable_2fa.output,
  Account,
  Notifications,
  ApiKey,
  NewApiKey,
  ApiKeyPage: operations.list_api_keys.output,
  Balance,
  BalancePoint,
  BalancePointPage: operations.get_balance_history.output,
  Statement,
  StatementPage: operations.list_statements.output,
  Topup,
  TopupPage: operations.list_topups.output,
  Card,
  CardPage: operations.list_cards.output,
  CardLimits,
  CardRules,
  CardTransfer,
  PanReveal,
  Shipping,
  Wallet,
  Transaction,
  TransactionPage: operations.list_transactions.output,
  Spending,
  AuthDetails,
  ActivityEvent,
  ActivityEventPage: operations.get_activity.output,
  AuditEntry,
  AuditEntryPage: operations.get_audit_log.output,
  Withdrawal,
  WithdrawalPage: operations.list_withdrawals.output,
  Dispute,
  DisputePage: operations.list_disputes.output,
  Evidence,
  Webhook,
  NewWebhook,
  WebhookPage: operations.list_webhooks.output,
  Delivery,
  EventBody,
  ThreeDsChallenge,
  ThreeDsDecision,
  Approval,
  ApprovalPage: operations.list_approvals.output,
  Ticket,
  TicketPage: operations.list_tickets.output,
  TicketMessage,
  SystemHealth,
  Maintenance,
  SystemLimits,
}

const schema_names = new Map<unknown, string>(
  Object.entries(named_schemas).map(([name, schema]) => [schema, name]),
)

export const schemaNameOf = (schema: unknown): string | undefined => schema_names.get(schema)

/** A schema in the document: a reference if it is named, otherwise inline. */
export function schemaOrRef(value: unknown): Json {
  const name = schemaNameOf(value)
  return name === undefined ? expand(value) : refTo('schemas', name)
}

export function expand(value: unknown): Json {
  if (Array.isArray(value)) return value.map(schemaOrRef)
  if (typeof value !== 'object' || value === null) return value as Json
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, schemaOrRef(member)]),
  )
}

export const refTo = (kind: string, name: string): JsonObject => ({
  $ref: `#/components/${kind}/${name}`,
})
