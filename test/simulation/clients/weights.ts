import type { Random } from '#test/simulation/random.ts'
import { type CallKind, call_weights } from './choose_call.ts'
import { type MessageKind, message_weights } from './choose_message.ts'

export type Step =
  | ('message' | 'call' | 'read' | 'other' | 'deposit' | 'challenge' | 'agent')
  | 'money_back'

/** How often a client does what; the seed decides, so rare combinations get their turn. */
export type Weights = {
  messages: Record<MessageKind, number>
  calls: Record<CallKind, number>
  steps: Record<Step, number>
}

const FACTORS = [0, 1, 1, 1, 3] as const

/** `without` names kinds that are not used. */
export function chooseWeights(random: Random, without: readonly string[] = []): Weights {
  const vary = <Kind extends string>(weights: Readonly<Record<Kind, number>>) =>
    Object.fromEntries(
      Object.entries<number>(weights).map(([kind, weight]) => [
        kind,
        weight * random.pick(FACTORS) * (without.includes(kind) ? 0 : 1),
      ]),
    ) as Record<Kind, number>
  const messages = vary(message_weights)
  return {
    messages: { ...messages, authorize: Math.max(messages.authorize, message_weights.authorize) },
    calls: vary(call_weights),
    steps: {
      ...{ message: 940, call: 45, read: 6, other: 12, deposit: 1, challenge: 3, agent: 30 },
      money_back: 5,
    },
  }
}
