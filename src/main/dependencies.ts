import { join } from 'node:path'
import type { Dependencies } from '#domain/context/context.ts'
import { chainProbes } from '#domain/topups/chain_health.ts'
import { idMaker } from '#kernel/id.ts'
import { makeHttpClient } from '#platform/http_client/http_client.ts'
import type { Database } from '#platform/postgres/db.ts'
import { systemClock } from '#platform/runtime/clock.ts'
import { neverFail } from '#platform/runtime/failpoints.ts'
import { disconnectedProbes } from '#platform/runtime/health.ts'
import { bufferedSink, jsonLog, type Log, type LogFields } from '#platform/runtime/log.ts'
import { makeMetrics } from '#platform/runtime/metrics.ts'
import { systemRandom } from '#platform/runtime/random.ts'
import { diskBlobs } from '#platform/storage/disk_blobs.ts'
import { sealFor } from '#platform/storage/key_seal.ts'
import { loadKeys } from '#platform/storage/keys.ts'
import { s3Blobs } from '#platform/storage/s3_blobs.ts'
import { listScreener } from '#rails/screening/list_screener.ts'
import { noScreener } from '#rails/screening/screening.ts'
import type { Settings } from '#settings/settings.ts'

/** The production dependencies; `overrides` replace them in tests. */
export async function makeDependencies(
  settings: Settings,
  db: Database,
  overrides: Partial<Dependencies> = {},
): Promise<Dependencies> {
  const clock = overrides.clock ?? systemClock()
  const random = overrides.random ?? systemRandom
  const makeId = idMaker(random.bytes, settings.cell)
  return {
    settings,
    db,
    clock,
    random,
    newId: (prefix, at) => makeId(prefix, at.getTime()),
    claimEmail: async () => true,
    isEmailClaimed: async () => true,
    cellDatabases: () => [db],
    keys: await loadKeys(settings.key_file, random, sealFor(settings.key_token, random)),
    http: makeHttpClient({ allow_loopback_http: settings.mode === 'sandbox' }),
    probes: {
      ...disconnectedProbes(db, clock),
      ...(settings.chains.length > 0 && chainProbes({ db, clock, settings })),
    },
    screener: settings.screening_file === null ? noScreener : listScreener(settings.screening_file),
    blobs:
      settings.s3 === null
        ? diskBlobs(join(settings.data_dir, 'evidence'), random)
        : await s3Blobs(settings.s3, random),
    log: overrides.log ?? stdoutLog(clock.wall),
    metrics: makeMetrics(clock),
    fail: neverFail,
    ...overrides,
  }
}

/** The log of a process that has no file for it. */
export function stdoutLog(now: () => Date, fields: LogFields = {}): Log {
  const sink = bufferedSink(process.stdout)
  process.once('exit', sink.flush)
  return jsonLog(sink, now, fields)
}
