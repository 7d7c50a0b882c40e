import type { Readable } from 'node:stream'
import { assert } from '#kernel/assert.ts'

/**
 * Files that are too large for the database, under generated names. A file is durable once `put`
 * resolves; before that it does not exist under its name.
 */
export type Blobs = {
  /** If the source throws, put rejects with that error and nothing is kept. */
  put(name: string, source: AsyncIterable<Uint8Array>): Promise<void>
  /** Null if there is no such file. */
  open(name: string): Promise<{ size_bytes: number; bytes: Readable } | null>
  remove(name: string): Promise<void>
  /** All files, including unfinished ones. */
  list(): AsyncIterable<{ name: string; stored_at: Date }>
}

/** The storage is full or failing: the same request may succeed later. */
export class StorageUnavailable extends Error {}

/** Names are never taken from a caller, which could allow path traversal. */
export const BLOB_NAME = /^[a-z]+_[0-9a-z]{26}$/

export function assertBlobName(name: string): void {
  assert(BLOB_NAME.test(name), 'a blob has a generated name')
}
