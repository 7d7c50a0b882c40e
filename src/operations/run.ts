import type { OperationName } from '#contract/operations.ts'
import type { Answer } from './call.ts'
import { contextOf, type Running } from './contexts.ts'
import { handlerOf } from './handlers.ts'
import { perform } from './perform.ts'
import { performPaid } from './perform_paid.ts'
import { requireCardAccess } from './steps/require_card_access.ts'

/** Runs a call, for money where it has a price. */
export function run(running: Running): Promise<Answer> {
  const { runtime, operation, caller, is_free, refusal } = running
  const price = runtime.settings.x402.prices.get(operation.name)
  const isCharged = price !== undefined && !is_free && refusal === null
  const performed = () => (isCharged ? performPaid(running, price) : perform(running))
  const isTied = caller !== null && caller.card_ids !== null
  return isTied ? holdToCards(running).then(performed) : performed()
}

/** A token may be tied to cards; that holds whatever the handler does about it. */
async function holdToCards(running: Running): Promise<void> {
  const { runtime, operation, caller, input } = running
  await requireCardAccess(operation.name as OperationName, caller, input, (name, other) => {
    const handler = handlerOf(name)
    if (typeof handler !== 'function') throw new Error('a read has nothing to prepare')
    return handler(contextOf(running, runtime.databaseOf(caller)), other)
  })
}
