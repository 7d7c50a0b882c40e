/** What an OAuth token may be granted, each with the sentence its owner reads before agreeing. */
export const scopes = {
  'account:read': 'See your account and whether two-factor sign-in is on.',
  'balance:read': 'See your balance and its history.',
  'topup:create': 'Create and cancel top-ups (deposit addresses).',
  'topup:read': 'See your top-ups and their state.',
  'card:read': 'See your cards, without their full numbers.',
  'card:issue': 'Issue new cards.',
  'card:control':
    'Load, unload, freeze, unfreeze and cancel cards, and set their limits and rules.',
  'card:reveal_pan': 'See the full number and security code of your cards.',
  'transaction:read': 'See what was paid with your cards.',
  'withdrawal:create': 'Send your balance to an external wallet.',
  'withdrawal:read': 'See your withdrawals and their state.',
  'dispute:write': 'File disputes and add evidence.',
  'webhook:write': 'Manage webhook subscriptions.',
  'system:read': 'See the health of the system and your own limits.',
} as const

export type Scope = keyof typeof scopes

export const scope_names = Object.keys(scopes) as readonly Scope[]

/** What a new client asks for when it names nothing: it may look, and touch nothing. */
export const initial_scopes: readonly Scope[] = scope_names.filter((scope) =>
  scope.endsWith(':read'),
)

/** Nobody grants these by overlooking them: their boxes start empty. */
export const unticked_scopes: readonly Scope[] = ['card:reveal_pan', 'withdrawal:create']
