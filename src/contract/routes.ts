/**
 * Method and path of each operation: the only part of the contract that clients need at run time.
 * It is a file of its own so the client package can include it without schemas and descriptions.
 */
export type Route = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Relative to /v1. Names in braces are path parameters; other fields go in the query or body. */
  path: string
  /** Set if the input is not sent in the method's usual place (a DELETE with a body). */
  carries?: 'body'
  /** True if the response is one page of a list. */
  paged?: true
  /** True if responses are never stored under an Idempotency-Key, so a repeat runs again. */
  never_stored?: true
}

export const routes = {
  create_account: { method: 'POST', path: '/accounts' },
  sign_in: { method: 'POST', path: '/sessions', never_stored: true },
  sign_out: { method: 'DELETE', path: '/sessions' },
  get_account: { method: 'GET', path: '/accounts/me' },
  update_account: { method: 'PATCH', path: '/accounts/me' },
  enable_2fa: { method: 'POST', path: '/accounts/me/totp' },
  disable_2fa: { method: 'DELETE', path: '/accounts/me/totp', carries: 'body' },

  list_api_keys: { method: 'GET', path: '/api_keys', paged: true },
  create_api_key: { method: 'POST', path: '/api_keys' },
  revoke_api_key: { method: 'DELETE', path: '/api_keys/{id}' },

  get_balance: { method: 'GET', path: '/balance' },
  get_balance_history: { method: 'GET', path: '/balance/history', paged: true },

  create_topup: { method: 'POST', path: '/topups' },
  list_topups: { method: 'GET', path: '/topups', paged: true },
  get_topup: { method: 'GET', path: '/topups/{id}' },
  cancel_topup: { method: 'POST', path: '/topups/{id}/cancel' },

  list_cards: { method: 'GET', path: '/cards', paged: true },
  issue_card: { method: 'POST', path: '/cards' },
  get_card: { method: 'GET', path: '/cards/{id}' },
  reveal_pan: { method: 'GET', path: '/cards/{id}/pan', never_stored: true },
  replace_card: { method: 'POST', path: '/cards/{id}/replace' },
  load_card: { method: 'POST', path: '/cards/{id}/load' },
  unload_card: { method: 'POST', path: '/cards/{id}/unload' },
  freeze_card: { method: 'POST', path: '/cards/{id}/freeze' },
  unfreeze_card: { method: 'POST', path: '/cards/{id}/unfreeze' },
  cancel_card: { method: 'POST', path: '/cards/{id}/cancel' },
  set_card_limits: { method: 'PATCH', path: '/cards/{id}/limits' },
  set_mcc_rules: { method: 'PATCH', path: '/cards/{id}/mcc' },
  set_card_geo: { method: 'PATCH', path: '/cards/{id}/geo' },

  list_transactions: { method: 'GET', path: '/transactions', paged: true },
  get_transaction: { method: 'GET', path: '/transactions/{id}' },
  list_card_transactions: { method: 'GET', path: '/cards/{id}/transactions', paged: true },
  get_auth_details: { method: 'GET', path: '/transactions/{id}/auth' },

  get_activity: { method: 'GET', path: '/activity', paged: true },
  filter_activity: { method: 'GET', path: '/activity', paged: true },
  get_audit_log: { method: 'GET', path: '/audit_log', paged: true },

  withdraw: { method: 'POST', path: '/withdrawals' },
  list_withdrawals: { method: 'GET', path: '/withdrawals', paged: true },
  get_withdrawal: { method: 'GET', path: '/withdrawals/{id}' },

  file_dispute: { method: 'POST', path: '/disputes' },
  list_disputes: { method: 'GET', path: '/disputes', paged: true },
  get_dispute: { method: 'GET', path: '/disputes/{id}' },
  add_dispute_evidence: { method: 'POST', path: '/disputes/{id}/evidence' },

  list_webhooks: { method: 'GET', path: '/webhooks', paged: true },
  create_webhook: { method: 'POST', path: '/webhooks' },
  update_webhook: { method: 'PATCH', path: '/webhooks/{id}' },
  delete_webhook: { method: 'DELETE', path: '/webhooks/{id}' },
  replay_webhook: { method: 'POST', path: '/webhooks/{id}/replay/{eid}' },

  open_ticket: { method: 'POST', path: '/tickets' },
  list_tickets: { method: 'GET', path: '/tickets', paged: true },
  get_system_health: { method: 'GET', path: '/system/health' },
  get_limits: { method: 'GET', path: '/system/limits' },

  // Not in the specification:
  request_password_reset: { method: 'POST', path: '/password_resets' },
  reset_password: { method: 'POST', path: '/password_resets/confirm' },
  list_sessions: { method: 'GET', path: '/sessions', paged: true },
  revoke_session: { method: 'DELETE', path: '/sessions/{id}' },
  update_card: { method: 'PATCH', path: '/cards/{id}' },
  get_ticket: { method: 'GET', path: '/tickets/{id}' },
  reply_ticket: { method: 'POST', path: '/tickets/{id}/messages' },
  get_spending: { method: 'GET', path: '/spending' },
  list_statements: { method: 'GET', path: '/statements', paged: true },
  list_approvals: { method: 'GET', path: '/approvals', paged: true },
  decide_approval: { method: 'POST', path: '/approvals/{id}' },
} as const satisfies Readonly<Record<string, Route>>
