import { type CardAction, card_action_names } from '#domain/credentials/token_access.ts'
import { isId } from '#kernel/id.ts'
import { errors } from './library.ts'

/** The types of authorization_details (RFC 9396) that every client may use. */
export const DETAIL_TYPES: readonly string[] = ['card_access', 'spend_budget']

/** An entry of authorization_details that requests one card. */
export function requireCardDetail(detail: object): void {
  const { type: _type, identifier, actions, ...others } = detail as Record<string, unknown>
  const [other] = Object.keys(others)
  if (other !== undefined) throw invalidDetails(`card_access has an unknown field: ${other}`)
  if (typeof identifier !== 'string' || !isId('card', identifier)) {
    throw invalidDetails('identifier must be a card ID')
  }
  if (actions === undefined) return
  const known: readonly unknown[] = card_action_names
  if (!Array.isArray(actions) || actions.length === 0 || !actions.every((a) => known.includes(a))) {
    throw invalidDetails(`actions must be one or more of ${card_action_names.join(', ')}`)
  }
}

export type RequestedCards = { card_ids: string[]; actions: CardAction[] }

/** All card entries combined. They share their actions, because a token has one set of scopes. */
export function requestedCards(text: unknown): RequestedCards | null {
  if (typeof text !== 'string') return null
  const every = JSON.parse(text) as { type: string; identifier: string; actions?: CardAction[] }[]
  const details = every.filter(({ type }) => type === 'card_access')
  if (details.length === 0) return null
  const action_lists = details.map(({ actions }) => actions ?? [...card_action_names])
  const shared = card_action_names.filter((name) =>
    action_lists.every((names) => names.includes(name)),
  )
  return { card_ids: [...new Set(details.map(({ identifier }) => identifier))], actions: shared }
}

function invalidDetails(message: string): Error {
  return new errors.InvalidAuthorizationDetails(message)
}
