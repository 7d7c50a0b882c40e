import { type Scope, scope_names } from '#contract/scopes.ts'
import type { TokenDetails } from './credential_store.ts'
import { audienceOf } from './resource.ts'

/** The `actions` of a card grant (RFC 9396) and the scope that each one allows. */
const card_actions = {
  read: 'card:read',
  control: 'card:control',
  reveal_pan: 'card:reveal_pan',
  transactions: 'transaction:read',
} as const satisfies Readonly<Record<string, Scope>>

export type CardAction = keyof typeof card_actions

export const card_action_names = Object.keys(card_actions) as readonly CardAction[]

/** The cards of a grant and the actions on them; null if the grant covers all cards. */
export type CardAccess = { card_ids: readonly string[]; actions: readonly CardAction[] } | null

/**
 * The scopes that a token has now: those it was issued with, if the grant still has them and, for a
 * card grant, if its actions allow them.
 */
export function grantedScopes(
  settings: { public_url: string },
  token: TokenDetails,
): ReadonlySet<Scope> {
  const audience = audienceOf(settings, token.audience)
  const granted = new Set(
    Object.entries(token.granted)
      .filter(([url]) => audienceOf(settings, url) === audience)
      .flatMap(([, scope]) => scope.split(' ')),
  )
  const issued = new Set(token.scope.split(' '))
  const current = scope_names.filter((scope) => issued.has(scope) && granted.has(scope))
  return new Set(current.filter((scope) => isWithinActions(scope, token.card_actions)))
}

/** True if a card grant with these actions can have the scope; null if it covers all cards. */
export function isWithinActions(scope: Scope, actions: readonly string[] | null): boolean {
  if (actions === null) return true
  const action = card_action_names.find((name) => card_actions[name] === scope)
  return action === undefined || actions.includes(action)
}
