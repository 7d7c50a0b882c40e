import type { Dependencies } from '#domain/context/context.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import { recordedEvidence } from './evidence_store.ts'

/** Longer than any upload takes: what is younger may still get its record. */
const ORPHAN_AGE_MS = 24 * 3_600_000
const BATCH = 500

/**
 * Removes files without a record: what a crash, or a refusal after the upload, has left behind. The
 * age is the file system's, so the world's time is what it is compared with.
 */
export function sweepEvidenceTask({
  db,
  blobs,
  clock,
}: Pick<Dependencies, 'db' | 'blobs' | 'clock'>): Task {
  const sweep = async (names: readonly string[]): Promise<void> => {
    const recorded = await recordedEvidence(db, names)
    for (const name of names) if (!recorded.has(name)) await blobs.remove(name)
  }
  return {
    name: 'sweep_evidence',
    every_ms: 3_600_000,
    run: async () => {
      const before = clock.wall().getTime() - ORPHAN_AGE_MS
      const names: string[] = []
      for await (const { name, stored_at } of blobs.list()) {
        if (stored_at.getTime() > before) continue
        names.push(name)
        if (names.length === BATCH) await sweep(names.splice(0))
      }
      await sweep(names)
    },
  }
}
