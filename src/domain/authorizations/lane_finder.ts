import { setImmediate as endOfTurn } from 'node:timers/promises'
import { texts } from '#platform/postgres/columns.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { CardRequest } from './request.ts'

/** At most about 10 MB. */
const REMEMBERED_MAX = 50_000

type LaneSearch = { request: CardRequest; place(account_id: string | null | undefined): void }

/**
 * Finds the account of each message's card, so that all messages of an account go through one
 * lane. A card never changes its account, so accounts are cached. Messages of unknown cards are
 * looked up together and placed in order of arrival.
 */
export class LaneFinder {
  readonly #db: Tx
  readonly #accounts = new Map<string, string>()
  #unplaced: LaneSearch[] = []
  #isLookingUp = false

  constructor(db: Tx) {
    this.#db = db
  }

  known(pan_hash: string): string | undefined {
    return this.#accounts.get(pan_hash)
  }

  /** Calls back with null for an unknown card, undefined if the database is unreachable. */
  find(request: CardRequest, place: LaneSearch['place']): void {
    this.#unplaced.push({ request, place })
    if (!this.#isLookingUp) void this.#findOwners()
  }

  async #findOwners(): Promise<void> {
    this.#isLookingUp = true
    while (this.#unplaced.length > 0) {
      await endOfTurn()
      const batch = this.#unplaced
      this.#unplaced = []
      const rows = await findAccounts(this.#db, batch).catch(() => undefined)
      const unknown = rows === undefined ? undefined : null
      for (const { pan_hash, account_id } of rows ?? []) this.#remember(pan_hash, account_id)
      for (const { request, place } of batch) place(this.known(request.pan_hash) ?? unknown)
    }
    this.#isLookingUp = false
  }

  #remember(pan_hash: string, account_id: string): void {
    this.#accounts.set(pan_hash, account_id)
    const [oldest] = this.#accounts.keys()
    if (this.#accounts.size > REMEMBERED_MAX && oldest !== undefined) this.#accounts.delete(oldest)
  }
}

function findAccounts(tx: Tx, batch: readonly LaneSearch[]) {
  return tx.rows<{ pan_hash: string; account_id: string }>(
    'select pan_hash, account_id from cards where pan_hash = any($1)',
    [texts(batch, ({ request }) => request.pan_hash)],
  )
}
