import { type CardPolicy, card_policies } from '#contract/card_policies.ts'
import { notFound } from '#contract/common_problems.ts'
import type { OperationName } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import type { Caller } from '#platform/context.ts'

type Input = Readonly<Record<string, unknown>>

/** Reads another operation's answer for the same caller; how the card of a thing is found. */
export type ReadOther = (operation: OperationName, input: Input) => Promise<unknown>

/**
 * Holds a token to its cards, before anything is done. Another card is answered as if it did not
 * exist, so that its id cannot be probed.
 */
export async function requireCardAccess(
  operation: OperationName,
  caller: Caller | null,
  input: Input,
  readOther: ReadOther,
): Promise<void> {
  if (caller === null || caller.card_ids === null) return
  const policy: CardPolicy = card_policies[operation]
  if (policy === 'denied') {
    throw new Problem(
      'policy_denied',
      `${operation} is not available to a token restricted to certain cards.`,
    )
  }
  if (policy === 'open') return
  if ('card' in policy) requireCard(caller.card_ids, input[policy.card], 'card')
  if ('through' in policy) {
    const other = (await readOther(policy.through, { id: input[policy.by] })) as Input
    requireCard(caller.card_ids, other['card_id'], nounOf(policy.through))
  }
}

/** What a token that is tied to cards may see of an answer. */
export function withinCards(
  operation: OperationName,
  caller: Caller | null,
  answer: unknown,
): unknown {
  if (caller === null || caller.card_ids === null) return answer
  const policy: CardPolicy = card_policies[operation]
  if (typeof policy === 'string') return answer
  if ('answer' in policy) {
    requireCard(caller.card_ids, (answer as Input)[policy.answer], nounOf(operation))
  }
  if (!('rows' in policy)) return answer
  const { card_ids } = caller
  const page = answer as { data: Input[] }
  const data = page.data.filter((row) => card_ids.includes(String(row[policy.rows])))
  return { ...page, data }
}

/** `get_dispute` reads a dispute: the sentence is the one that a missing one gets. */
const nounOf = (read: OperationName) => read.replace(/^get_/, '')

function requireCard(card_ids: readonly string[], card_id: unknown, noun: string): void {
  if (typeof card_id === 'string' && card_ids.includes(card_id)) return
  throw notFound(noun)
}
