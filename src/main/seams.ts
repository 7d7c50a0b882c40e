import { join } from 'node:path'
import { chainProbes } from '#domain/topups/chain_health.ts'
import { idMaker } from '#kernel/id.ts'
import { systemClock } from '#platform/clock.ts'
import type { Settings } from '#platform/config.ts'
import type { Seams } from '#platform/context.ts'
import type { Database } from '#platform/db.ts'
import { diskBlobs } from '#platform/disk_blobs.ts'
import { neverFail } from '#platform/failpoints.ts'
import { bareProbes } from '#platform/health.ts'
import { httpOut } from '#platform/http_out.ts'
import { sealFor } from '#platform/key_seal.ts'
import { loadKeys } from '#platform/keys.ts'
import { gatheringSink, jsonLog } from '#platform/log.ts'
import { makeMetrics } from '#platform/metrics.ts'
import { systemRandom } from '#platform/random.ts'
import { s3Blobs } from '#platform/s3_blobs.ts'
import { noScreener } from '#platform/screening.ts'
import { listScreener } from '#rails/screening/list_screener.ts'

/** The real seams; whatever is given takes the place of its own. */
export async function makeSeams(
  settings: Settings,
  db: Database,
  given: Partial<Seams> = {},
): Promise<Seams> {
  const clock = given.clock ?? systemClock()
  const random = given.random ?? systemRandom
  const makeId = idMaker(random.bytes)
  return {
    settings,
    db,
    clock,
    random,
    newId: (prefix, at) => makeId(prefix, at.getTime()),
    keys: await loadKeys(settings.key_file, random, sealFor(settings.key_token, random)),
    http: httpOut({ allow_loopback_http: settings.mode === 'sandbox' }),
    probes: {
      ...bareProbes(db, clock),
      ...(settings.chains.length > 0 && chainProbes({ db, clock, settings })),
    },
    screener: settings.screening_file === null ? noScreener : listScreener(settings.screening_file),
    blobs:
      settings.s3 === null
        ? diskBlobs(join(settings.data_dir, 'evidence'), random)
        : await s3Blobs(settings.s3, random),
    log: given.log ?? jsonLog(standardOutput(), clock.wall),
    metrics: makeMetrics(),
    fail: neverFail,
    ...given,
  }
}

function standardOutput() {
  const sink = gatheringSink(process.stdout)
  process.once('exit', sink.flush)
  return sink
}
