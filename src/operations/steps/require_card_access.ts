import { type CardPolicy, card_policies } from '#contract/card_policies.ts'
import { notFound } from '#contract/common_problems.ts'
import type { OperationName } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import type { Caller } from '#domain/context/context.ts'

type Input = Readonly<Record<string, unknown>>

/** Runs another read for the same caller, to find the card an object belongs to. */
export type ReadOther = (operation: OperationName, input: Input) => Promise<unknown>

/**
 * Restricts a token to its cards before the handler runs. Other cards respond as if they did not
 * exist, so their IDs cannot be probed.
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

/** Removes what a card-restricted token may not see from a response. */
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

/** `get_dispute` → `dispute`, so the message equals that of a missing object. */
const nounOf = (read: OperationName) => read.replace(/^get_/, '')

function requireCard(card_ids: readonly string[], card_id: unknown, noun: string): void {
  if (typeof card_id === 'string' && card_ids.includes(card_id)) return
  throw notFound(noun)
}
