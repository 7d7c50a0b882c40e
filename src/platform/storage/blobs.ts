import type { Readable } from 'node:stream'
import { assert } from '#kernel/assert.ts'

/**
 * Files that are too large for the database, under names of our own. What `put` has answered for
 * survives a crash; what it has not is not there under its name.
 */
export type Blobs = {
  /** Nothing is kept where the source throws, and that is what it throws. */
  put(name: string, source: AsyncIterable<Uint8Array>): Promise<void>
  /** Null where there is no such file. */
  open(name: string): Promise<{ size_bytes: number; bytes: Readable } | null>
  remove(name: string): Promise<void>
  /** Names and ages, also of what was never finished. */
  list(): AsyncIterable<{ name: string; stored_at: Date }>
}

/** Never what a caller sent: that could lead anywhere. */
export const BLOB_NAME = /^[a-z]+_[0-9a-z]{26}$/

export function assertBlobName(name: string): void {
  assert(BLOB_NAME.test(name), 'a blob has a name of ours')
}
