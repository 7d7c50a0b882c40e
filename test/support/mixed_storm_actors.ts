import assert from 'node:assert/strict'
import type { OutgoingMessage } from '#iso8583/message.ts'
import type { Holder } from './cards.ts'
import type { BareCard } from './issuer.ts'

export type Random = (limit: number) => number

/** An account in a mixed storm: its cards, including replaced ones, and their purchases. */
export type StormOwner = Holder & {
  cards: BareCard[]
  purchases: OutgoingMessage[]
  captures: string[]
}

export function pick<Item>(items: readonly Item[], random: Random): Item {
  const item = items[random(items.length)]
  assert(item !== undefined, 'picked from a list that is not empty')
  return item
}

/** Runs all actors. The first failure stops the others and is thrown when they have ended. */
export async function runTogether(
  actors: readonly ((isStopped: () => boolean) => Promise<void>)[],
): Promise<void> {
  let isStopped = false
  const outcomes = await Promise.allSettled(
    actors.map((actor) =>
      actor(() => isStopped).catch((cause: unknown) => {
        isStopped = true
        throw cause
      }),
    ),
  )
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}
