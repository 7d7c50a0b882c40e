import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

export type SavedState<Snapshot, Change> = { snapshot: Snapshot; changes: Change[] }

/** Smaller files are not rewritten. */
const CHANGES_BYTES_MIN = 256 * 1024

/**
 * A file with a snapshot in its first line and one change per line after it. A save appends a
 * change. When the changes outgrow the snapshot, a new snapshot replaces them, so the bytes written
 * stay within a small multiple of the changes.
 */
export class Journal<Snapshot, Change> {
  readonly #path: string
  #snapshot_bytes = 0
  #changes_bytes = 0

  constructor(path: string) {
    this.#path = path
  }

  /** Null before the first save. */
  read(): SavedState<Snapshot, Change> | null {
    if (!existsSync(this.#path)) return null
    const [first = '', ...rest] = readFileSync(this.#path, 'utf8').split('\n')
    // A crash may have truncated the last line; a complete one ends with a newline.
    const lines = rest.slice(0, -1)
    return {
      snapshot: JSON.parse(first) as Snapshot,
      changes: lines.map((line) => JSON.parse(line) as Change),
    }
  }

  append(change: Change, snapshot: () => Snapshot): void {
    const line = `${JSON.stringify(change)}\n`
    this.#changes_bytes += line.length
    const isLong = this.#changes_bytes > Math.max(CHANGES_BYTES_MIN, this.#snapshot_bytes)
    // The first save of a process rewrites the file, whose last line may be truncated.
    if (isLong || this.#snapshot_bytes === 0) this.#rewrite(snapshot())
    else appendFileSync(this.#path, line)
  }

  #rewrite(snapshot: Snapshot): void {
    const line = `${JSON.stringify(snapshot)}\n`
    writeFileSync(`${this.#path}.new`, line)
    renameSync(`${this.#path}.new`, this.#path)
    this.#snapshot_bytes = line.length
    this.#changes_bytes = 0
  }
}
