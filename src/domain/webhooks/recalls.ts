const REMEMBERED_MAX = 1_000

/**
 * Webhooks that were deleted or changed. Rows that were being leased at that time may have the old
 * URL or secret, so the code that leases them reads `count` before and asks afterwards.
 */
export class Recalls {
  #count = 0
  /** Recalls up to this one were forgotten and may have been of any webhook. */
  #forgotten = 0
  readonly #last = new Map<string, number>()

  get count(): number {
    return this.#count
  }

  add(webhook_id: string): void {
    this.#count += 1
    if (this.#last.size >= REMEMBERED_MAX) {
      this.#last.clear()
      this.#forgotten = this.#count
    }
    this.#last.set(webhook_id, this.#count)
  }

  isRecalledSince(count: number, webhook_id: string): boolean {
    return this.#forgotten > count || (this.#last.get(webhook_id) ?? 0) > count
  }
}
