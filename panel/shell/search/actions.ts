import type { Result } from './results.ts'

const action = (text: string, to: string, hint = ''): Result => ({
  group: 'Actions',
  text,
  hint,
  to,
})

/** Things people want to do, each as the page where it is done. */
export const actions: readonly Result[] = [
  action('Issue a card', '/cards?issue', 'New card'),
  action('Add money', '/topups', 'Top up, deposit'),
  action('Withdraw money', '/withdrawals?withdraw', 'Send USDT'),
  action('Dispute a charge', '/transactions?status=completed&choose=dispute'),
  action('Download a statement', '/statements', 'CSV, PDF'),
  action('Create an API key', '/developers/keys'),
  action('Add a webhook', '/developers/webhooks'),
  action('Manage agents', '/agents', 'Budgets, access'),
  action('Contact support', '/tickets?new', 'New ticket'),
  action('Change your password', '/security'),
  action('Set up two-factor authentication', '/security'),
  action('See where you’re signed in', '/security', 'Sessions'),
  action('Change notifications', '/settings', 'Email'),
  action('Change the theme', '/settings', 'Light, dark'),
]
