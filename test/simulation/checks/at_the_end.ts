import type { Transport } from '#test/simulation/clients/transport.ts'
import type { Receiver } from '#test/simulation/world/receivers.ts'
import { checkAuditEntries, checkMessages } from './acknowledged.ts'
import { checkBooks, runAuditCommands } from './books.ts'
import { checkDeliveries } from './deliveries.ts'
import { checkNothingStuck } from './stuck.ts'

type Check = readonly [name: string, check: () => Promise<void>]

/** Everything that was acknowledged is there exactly once, and nothing is stuck. */
export function checksAtTheEnd(
  transport: Transport,
  receivers: readonly Receiver[],
  advance: (seconds: number) => Promise<void>,
): readonly Check[] {
  const { world, monitor } = transport
  return [
    ['nothing is stuck', () => checkNothingStuck(transport)],
    ['every event is delivered', () => checkDeliveries(transport, receivers, advance)],
    ['every message is recorded once', () => checkMessages(transport)],
    ['every write is audited', () => checkAuditEntries(transport)],
    ['the books are sound', () => checkBooks(world, monitor)],
    ['the commands agree', () => runAuditCommands(world, monitor)],
  ]
}
