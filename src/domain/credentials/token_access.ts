import { type Scope, scope_names } from '#contract/scopes.ts'
import type { Settings } from '#settings/settings.ts'
import type { TokenFacts } from './credential_store.ts'
import { resourceNamed } from './resource.ts'

/** What may be done with the cards a grant is tied to (RFC 9396 `actions`), and its scope. */
export const card_actions = {
  read: 'card:read',
  control: 'card:control',
  reveal_pan: 'card:reveal_pan',
  transactions: 'transaction:read',
} as const satisfies Readonly<Record<string, Scope>>

export type CardAction = keyof typeof card_actions

export const card_action_names = Object.keys(card_actions) as readonly CardAction[]

/** The cards a grant is tied to and what may be done with them; null where it is for all. */
export type CardAccess = { card_ids: readonly string[]; actions: readonly CardAction[] } | null

/**
 * What a token holds now: what it was made with, as far as the grant still says so and, where it is
 * tied to cards, as far as the actions allow.
 */
export function grantedScopes(
  settings: Pick<Settings, 'public_url'>,
  token: TokenFacts,
): ReadonlySet<Scope> {
  const resource = resourceNamed(settings, token.audience)
  const granted = new Set(
    Object.entries(token.granted)
      .filter(([address]) => resourceNamed(settings, address) === resource)
      .flatMap(([, scope]) => scope.split(' ')),
  )
  const made_with = new Set(token.scope.split(' '))
  const held = scope_names.filter((scope) => made_with.has(scope) && granted.has(scope))
  return new Set(held.filter((scope) => isWithinActions(scope, token.card_actions)))
}

function isWithinActions(scope: Scope, actions: readonly string[] | null): boolean {
  if (actions === null) return true
  const action = card_action_names.find((name) => card_actions[name] === scope)
  return action === undefined || actions.includes(action)
}
