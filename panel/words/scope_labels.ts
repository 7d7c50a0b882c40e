import type { Scope } from '#contract/scopes.ts'

/** Short names; an agent’s page has the sentences of the consent page. */
const scope_labels: Readonly<Record<Scope, string>> = {
  'account:read': 'See account',
  'balance:read': 'See balance',
  'topup:create': 'Create top-ups',
  'topup:read': 'See top-ups',
  'card:read': 'See cards',
  'card:issue': 'Issue cards',
  'card:control': 'Load and change cards',
  'card:reveal_pan': 'See card numbers',
  'transaction:read': 'See transactions',
  'withdrawal:create': 'Withdraw',
  'withdrawal:read': 'See withdrawals',
  'dispute:write': 'File disputes',
  'webhook:write': 'Manage webhooks',
  'system:read': 'See status and limits',
}

/** A scope of a newer server has no label. */
export const scopeLabel = (scope: string): string => scope_labels[scope as Scope] ?? scope

/** Several of them in one line: "See cards, issue cards". */
export const scopeList = (scopes: readonly string[]): string =>
  scopes
    .map(scopeLabel)
    .map((label, at) => (at === 0 ? label : label.charAt(0).toLowerCase() + label.slice(1)))
    .join(', ')
