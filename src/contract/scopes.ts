/** OAuth scopes with the sentence shown to the account owner on the consent page. */
export const scopes = {
  'account:read': 'See your account details and two-factor status.',
  'balance:read': 'See your balance and its history.',
  'topup:create': 'Create and cancel top-ups (deposit addresses).',
  'topup:read': 'See your top-ups and their status.',
  'card:read': 'See your cards, but not their full numbers.',
  'card:issue': 'Issue new cards.',
  'card:control':
    'Load, unload, freeze, unfreeze and cancel cards, and change their limits and rules.',
  'card:reveal_pan': 'See the full number and security code of your cards.',
  'transaction:read': 'See your card transactions.',
  'withdrawal:create': 'Send money from your balance to an external wallet.',
  'withdrawal:read': 'See your withdrawals and their status.',
  'dispute:write': 'File disputes and add evidence.',
  'webhook:write': 'Manage webhooks.',
  'system:read': 'See the service status and your limits.',
} as const

export type Scope = keyof typeof scopes

export const scope_names = Object.keys(scopes) as readonly Scope[]

/** Read-only scopes, requested for a client that registers without naming any. */
export const default_scopes: readonly Scope[] = scope_names.filter((scope) =>
  scope.endsWith(':read'),
)

/** Dangerous scopes are unchecked on the consent page, so the owner has to opt in to each. */
export const opt_in_scopes: readonly Scope[] = ['card:reveal_pan', 'withdrawal:create']
