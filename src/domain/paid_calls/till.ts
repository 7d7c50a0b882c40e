import type { Seams } from '#domain/context/context.ts'
import type { Facilitator } from '#rails/x402/facilitator.ts'
import type { PaymentNetwork } from '#rails/x402/receipt.ts'
import type { Relayer } from '#rails/x402/relayer.ts'

/** Where calls are paid for. Absent where nothing has a price. */
export type Till = Pick<
  Seams,
  'db' | 'clock' | 'newId' | 'settings' | 'screener' | 'log' | 'fail'
> & {
  facilitator: Facilitator
  /** Null where a remote facilitator settles and no node of ours can be asked. */
  network: PaymentNetwork | null
  /** Null where a remote facilitator settles: refunds are the operator's to send then. */
  relayer: Relayer | null
}

/** Longer than a settlement and its call may take; after it another may go on where it ended. */
export const LEASE_MS = 60_000

export const stampOf = ({ clock, newId }: Pick<Till, 'clock' | 'newId'>) => ({
  now: clock.now(),
  newId,
})
