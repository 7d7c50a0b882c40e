import type { Dependencies } from '#domain/context/context.ts'
import type { Database } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Log } from '#platform/runtime/log.ts'
import type { AddressScreener } from '#rails/screening/screening.ts'
import type { Settings } from '#settings/settings.ts'

/** The parts of the service that the tasks of this room use. */
export type TopupDependencies = {
  db: Database
  clock: Clock
  newId: Dependencies['newId']
  settings: Settings
  screener: AddressScreener
  log: Log
}
