import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

export type Saved<Snapshot, Change> = { snapshot: Snapshot; changes: Change[] }

/** Below this a file is not worth writing anew. */
const CHANGES_BYTES_MIN = 256 * 1024

/**
 * A file with a snapshot in its first line and one change in each line after it. A save appends
 * what has changed. Once the changes outgrow the snapshot, a new snapshot takes their place, so
 * that all writing together stays within a small multiple of what has changed.
 */
export class Journal<Snapshot, Change> {
  readonly #path: string
  #snapshot_bytes = 0
  #changes_bytes = 0

  constructor(path: string) {
    this.#path = path
  }

  /** Null where nothing was saved yet. */
  read(): Saved<Snapshot, Change> | null {
    if (!existsSync(this.#path)) return null
    const [first = '', ...rest] = readFileSync(this.#path, 'utf8').split('\n')
    // A crash may have cut the last line short, and only a whole one ends with a newline.
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
    // The first save of a process begins the file anew: its last line may have been cut short.
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
