import { cellOfId } from '#kernel/id.ts'
import type { Database } from '#platform/postgres/db.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Blobs } from '#platform/storage/blobs.ts'
import type { CellSettings } from '#settings/cell_settings.ts'
import { findRecordedEvidence } from './evidence_store.ts'

/** Longer than any upload; the record of a younger file may still be written. */
const ORPHAN_AGE_MS = 24 * 3_600_000
const BATCH_MAX = 500

type SweepDependencies = { db: Database; blobs: Blobs; clock: Clock; settings: CellSettings }

const ID_LENGTH = 'evd_'.length + 26

/** All cells share a folder or bucket, and each sweeps the files that its own IDs name. */
function isOwn(name: string, { cell, more_cells }: CellSettings): boolean {
  const named = cellOfId(name.slice(0, ID_LENGTH))
  return cell === (more_cells.some(({ number }) => number === named) ? named : 0)
}

/**
 * Removes files without a record, left by a crash or a refusal after the upload. Their age comes
 * from the file system, so it is compared with the wall clock and not the sandbox's clock.
 */
export function sweepEvidenceTask({ db, blobs, clock, settings }: SweepDependencies): Task {
  const sweep = async (names: readonly string[]): Promise<void> => {
    const recorded = await findRecordedEvidence(db, names)
    for (const name of names) if (!recorded.has(name)) await blobs.remove(name)
  }
  return {
    name: 'sweep_evidence',
    every_ms: 3_600_000,
    run: async () => {
      const before = clock.wall().getTime() - ORPHAN_AGE_MS
      const names: string[] = []
      for await (const { name, stored_at } of blobs.list()) {
        if (stored_at.getTime() > before || !isOwn(name, settings)) continue
        names.push(name)
        if (names.length === BATCH_MAX) await sweep(names.splice(0))
      }
      await sweep(names)
    },
  }
}
