import type { OperationName } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import { createAccount } from '#domain/accounts/create_account.ts'
import { disable2fa } from '#domain/accounts/disable_2fa.ts'
import { enable2fa } from '#domain/accounts/enable_2fa.ts'
import { getAccount } from '#domain/accounts/get_account.ts'
import { signIn } from '#domain/accounts/sign_in.ts'
import { signOut } from '#domain/accounts/sign_out.ts'
import { updateAccount } from '#domain/accounts/update_account.ts'
import { getAuditLog } from '#domain/activity/get_audit_log.ts'
import { createApiKey } from '#domain/api_keys/create_api_key.ts'
import { listApiKeys } from '#domain/api_keys/list_api_keys.ts'
import { revokeApiKey } from '#domain/api_keys/revoke_api_key.ts'
import { getLimits } from '#domain/system/get_limits.ts'
import { getSystemHealth } from '#domain/system/get_system_health.ts'
import type { Context, Handler, PreparingContext } from '#platform/context.ts'

/** Said plainly by what is declared in the contract and whose room is still to be built. */
export const notServedYet = async (): Promise<never> => {
  throw new Problem('service_unavailable', 'This version does not serve this operation yet.')
}

/** Name → handler. A missing one, or one of another operation, does not compile. */
export const handlers: { readonly [Name in OperationName]: Handler<Name> } = {
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

  get_balance: notServedYet,
  get_balance_history: notServedYet,

  create_topup: notServedYet,
  list_topups: notServedYet,
  get_topup: notServedYet,
  cancel_topup: notServedYet,

  list_cards: notServedYet,
  issue_card: notServedYet,
  get_card: notServedYet,
  reveal_pan: notServedYet,
  replace_card: notServedYet,
  load_card: notServedYet,
  unload_card: notServedYet,
  freeze_card: notServedYet,
  unfreeze_card: notServedYet,
  cancel_card: notServedYet,
  set_card_limits: notServedYet,
  set_mcc_rules: notServedYet,
  set_card_geo: notServedYet,

  list_transactions: notServedYet,
  get_transaction: notServedYet,
  list_card_transactions: notServedYet,
  get_auth_details: notServedYet,

  get_activity: notServedYet,
  filter_activity: notServedYet,
  get_audit_log: getAuditLog,

  withdraw: notServedYet,
  list_withdrawals: notServedYet,
  get_withdrawal: notServedYet,

  file_dispute: notServedYet,
  list_disputes: notServedYet,
  get_dispute: notServedYet,
  add_dispute_evidence: notServedYet,

  list_webhooks: notServedYet,
  create_webhook: notServedYet,
  update_webhook: notServedYet,
  delete_webhook: notServedYet,
  replay_webhook: notServedYet,

  open_ticket: notServedYet,
  list_tickets: notServedYet,
  get_system_health: getSystemHealth,
  get_limits: getLimits,
}

/** A handler whose operation is known only by name: the contract has checked what it is given. */
export type LooseRun = (context: Context, input: Record<string, unknown>) => Promise<object>
export type LooseHandler =
  | LooseRun
  | {
      prepare(context: PreparingContext, input: Record<string, unknown>): Promise<LooseRun>
      replay?(context: Context, stored: object): Promise<object>
    }

export function handlerOf(name: string): LooseHandler {
  return handlers[name as OperationName] as unknown as LooseHandler
}
