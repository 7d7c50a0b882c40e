import { type CardPolicy, card_policies } from '#contract/card_policies.ts'
import { notFound } from '#contract/common_problems.ts'
import type { OperationName } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import type { Invocation } from '#operations/invocation.ts'
import { readAsCaller } from '#operations/perform/read.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Restricts a token to its cards before the handler runs. Other cards respond as if they did not
 * exist, so their IDs cannot be probed.
 */
export function requireCardAccess(invocation: Invocation): void | Promise<void> {
  const { operation, caller, input } = invocation
  if (caller === null || caller.card_ids === null) return
  const policy: CardPolicy = card_policies[operation.name as OperationName]
  if (policy === 'denied') {
    throw new Problem(
      'policy_denied',
      `${operation.name} is not available to a token restricted to certain cards.`,
    )
  }
  if (policy === 'open' || policy === 'filtered') return
  if ('card' in policy) requireCard(caller.card_ids, input[policy.card], 'card')
  if ('through' in policy) return requireCardOf(invocation, caller.card_ids, policy)
}

type ThroughPolicy = Extract<CardPolicy, { through: OperationName }>

/** The object itself names its card, so it is read first. */
async function requireCardOf(
  invocation: Invocation,
  card_ids: readonly string[],
  { through, by }: ThroughPolicy,
): Promise<void> {
  const object = (await readAsCaller(invocation, through, { id: invocation.input[by] })) as Fields
  requireCard(card_ids, object['card_id'], nounOf(through))
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
  if (typeof card_id === 'string' && card_ids.includes(card_id)) return
  throw notFound(noun)
}
