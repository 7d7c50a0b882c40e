import type { Dependencies } from '#domain/context/context.ts'
import type { HttpClient } from '#platform/http_client/http_client.ts'
import type { Database } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Fail } from '#platform/runtime/failpoints.ts'
import type { Log } from '#platform/runtime/log.ts'
import type { Metrics } from '#platform/runtime/metrics.ts'
import type { Random } from '#platform/runtime/random.ts'
import type { Keys } from '#platform/storage/keys.ts'
import type { Settings } from '#settings/settings.ts'

/** The parts of the service that send an attempt. */
export type AttemptDependencies = {
  http: HttpClient
  keys: Keys
  clock: Clock
  newId: Dependencies['newId']
}

/** The parts of the service that change a webhook in the background and record it. */
export type SystemDependencies = {
  db: Database
  clock: Clock
  newId: Dependencies['newId']
  settings: Settings
}

/** The parts of the service that the deliverer and the challenge task use. */
export type DeliveryDependencies = AttemptDependencies &
  SystemDependencies & { random: Random; log: Log; metrics: Metrics; fail: Fail }
