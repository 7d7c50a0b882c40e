import type { PurseRow } from './ledger_store.ts'
import { type Purse, storedKind } from './purse.ts'

/** The purses of a posting, in nested maps: a joined key would be built for every look-up. */
export class PurseRows {
  readonly #accounts = new Map<string, Map<string, PurseRow[]>>()

  constructor(rows: Iterable<PurseRow>) {
    for (const row of rows) this.#add(row)
  }

  #add(row: PurseRow): void {
    const owners = this.#accounts.get(row.account_id) ?? new Map<string, PurseRow[]>()
    this.#accounts.set(row.account_id, owners)
    const kinds = owners.get(row.owner_id)
    if (kinds === undefined) owners.set(row.owner_id, [row])
    else kinds.push(row)
  }

  find(account_id: string, { kind, owner_id }: Purse): PurseRow | undefined {
    const stored = storedKind(kind)
    const kinds = this.#accounts.get(account_id)?.get(owner_id) ?? []
    for (const row of kinds) if (row.kind === stored) return row
    return undefined
  }

  changed(): PurseRow[] {
    const rows: PurseRow[] = []
    for (const owners of this.#accounts.values()) {
      for (const kinds of owners.values()) {
        for (const row of kinds) if (row.is_changed) rows.push(row)
      }
    }
    return rows
  }
}
