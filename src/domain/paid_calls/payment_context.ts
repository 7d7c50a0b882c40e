import type { Dependencies } from '#domain/context/context.ts'
import type { Database } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Fail } from '#platform/runtime/failpoints.ts'
import type { Log } from '#platform/runtime/log.ts'
import type { AddressScreener } from '#rails/screening/screening.ts'
import type { Facilitator } from '#rails/x402/facilitator.ts'
import type { PaymentNetwork } from '#rails/x402/receipt.ts'
import type { Relayer } from '#rails/x402/relayer.ts'
import type { Settings } from '#settings/settings.ts'

/** The dependencies of paid calls; null in the runtime if no call has a price. */
export type PaymentContext = {
  db: Database
  clock: Clock
  newId: Dependencies['newId']
  settings: Settings
  screener: AddressScreener
  log: Log
  fail: Fail
  facilitator: Facilitator
  /** Null if a remote facilitator settles and no chain node is configured. */
  network: PaymentNetwork | null
  /** Null if a remote facilitator settles; the operator then sends refunds. */
  relayer: Relayer | null
}

/** Longer than a settlement and its call take. After it, another node may resume the payment. */
export const LEASE_MS = 60_000

export const stampOf = ({ clock, newId }: { clock: Clock; newId: PaymentContext['newId'] }) => ({
  now: clock.now(),
  newId,
})
