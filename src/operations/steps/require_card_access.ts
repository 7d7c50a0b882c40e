import { type CardPolicy, card_policies } from '#contract/card_policies.ts'
import { notFound } from '#contract/common_problems.ts'
import type { OperationName } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import { type CardKey, isReplacedByOneOf } from '#domain/cards/card_store.ts'
import type { Caller } from '#domain/context/context.ts'
import type { Invocation } from '#operations/invocation.ts'
import { readAsCaller } from '#operations/perform/read.ts'
import { findStoredResponse } from '#operations/perform/stored_responses.ts'
import { idempotentRequestOf } from '#operations/perform/with_idempotency.ts'

type Fields = Readonly<Record<string, unknown>>

/** True if a token restricted to certain cards cannot call the operation at all. */
export const isForWholeAccount = (name: OperationName): boolean => card_policies[name] === 'denied'

/**
 * Restricts a token to its cards before the handler runs. Other cards respond as if they did not
 * exist, so their IDs cannot be probed.
 */
export function requireCardAccess(invocation: Invocation): void | Promise<void> {
  const { operation, caller, input } = invocation
  if (caller === null || caller.card_ids === null) return
  const name = operation.name as OperationName
  if (isForWholeAccount(name)) {
    throw new Problem(
      'policy_denied',
      `${name} is not available to a token restricted to certain cards.`,
    )
  }
  const policy: CardPolicy = card_policies[name]
  if (typeof policy === 'string') return
  if ('card' in policy) return requireCardOrReplay(invocation, caller, input[policy.card], 'card')
  if ('through' in policy) return requireCardOf(invocation, caller, policy)
}

type ThroughPolicy = Extract<CardPolicy, { through: OperationName }>

/** The object itself names its card, so it is read first. */
async function requireCardOf(
  invocation: Invocation,
  caller: Caller,
  { through, by }: ThroughPolicy,
): Promise<void> {
  const object = (await readAsCaller(invocation, through, { id: invocation.input[by] })) as Fields
  await requireCardOrReplay(invocation, caller, object['card_id'], nounOf(through))
}

/**
 * A token's card may have been replaced since a call, by that very call if it was replace_card. A
 * repeat under its Idempotency-Key must still get the stored response: with a 404 the client would
 * believe that nothing had happened.
 */
function requireCardOrReplay(
  invocation: Invocation,
  { account_id, card_ids }: Caller,
  card_id: unknown,
  noun: string,
): void | Promise<void> {
  if (card_ids === null || isOneOf(card_ids, card_id)) return
  if (typeof card_id !== 'string') throw notFound(noun)
  return hasReplay(invocation, { account_id, id: card_id }, card_ids).then((isReplay) => {
    if (!isReplay) throw notFound(noun)
  })
}

async function hasReplay(
  invocation: Invocation,
  card: CardKey,
  card_ids: readonly string[],
): Promise<boolean> {
  const request = idempotentRequestOf(invocation)
  if (request === null) return false
  const db = invocation.runtime.databaseOf(invocation.caller)
  if (!(await isReplacedByOneOf(db, card, card_ids))) return false
  return (await findStoredResponse(db, request)) !== undefined
}

/** Removes what a card-restricted token may not see from the output of a read. */
export function restrictToCards({ operation, caller }: Invocation, output: object): object {
  if (caller === null || caller.card_ids === null) return output
  const name = operation.name as OperationName
  const policy: CardPolicy = card_policies[name]
  if (typeof policy === 'string') return output
  if ('answer' in policy) {
    requireCard(caller.card_ids, (output as Fields)[policy.answer], nounOf(name))
  }
  if (!('rows' in policy)) return output
  const { card_ids } = caller
  const page = output as { data: Fields[] }
  const data = page.data.filter((row) => card_ids.includes(String(row[policy.rows])))
  return { ...page, data }
}

/** `get_dispute` → `dispute`, so the message equals that of a missing object. */
const nounOf = (read: OperationName) => read.replace(/^get_/, '')

function requireCard(card_ids: readonly string[], card_id: unknown, noun: string): void {
  if (!isOneOf(card_ids, card_id)) throw notFound(noun)
}

const isOneOf = (card_ids: readonly string[], card_id: unknown) =>
  typeof card_id === 'string' && card_ids.includes(card_id)
