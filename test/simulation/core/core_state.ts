import type { PendingClearing } from '#domain/authorizations/batch_state.ts'
import type { Stamp } from '#domain/ledger/post.ts'
import type { PurseKind } from '#domain/ledger/purse.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { RiskSettings } from '#settings/risk_settings.ts'
import { DEFAULT_SPEND_LIMITS, type SpendLimits } from '#settings/spend_limit_settings.ts'
import { seeded } from '#test/support/storm.ts'
import { type AccountRows, lockPurse, newAccountRows } from './account_rows.ts'
import type { RunSettings } from './steps.ts'

/** A message that was answered. */
type SeenMessage = {
  fingerprint: string
  answer: Buffer
  transaction_id: string | null
  is_request: boolean
}

type WaitingClearing = { account: string; clearing: PendingClearing }

/** All rows, in memory instead of a database, and the dependencies of the pure code. */
export type CoreState = {
  settings: { risk: RiskSettings; spend_limits: SpendLimits }
  killed: Set<string>
  accounts: Map<string, AccountRows>
  seen: Map<string, SeenMessage>
  early_reversals: Set<string>
  waiting: Map<string, WaitingClearing>
  random: { bytes(count: number): Uint8Array; below(limit: number): number }
  newId(prefix: string): string
}

export function newCoreState(settings: RunSettings): CoreState {
  let ids = 0
  const below = seeded(1)
  return {
    settings: {
      risk: {
        velocity: {},
        withdrawal_cooldown_hours: 0,
        withdrawal_review_usd: null,
        provisional_credit_days: 0,
        balance_max_usd: null,
        approval_password_usd: null,
        ...settings,
      },
      spend_limits: DEFAULT_SPEND_LIMITS,
    },
    killed: new Set(),
    accounts: new Map(),
    seen: new Map(),
    early_reversals: new Set(),
    waiting: new Map(),
    random: { bytes: (count) => Uint8Array.from({ length: count }, () => below(256)), below },
    newId: (prefix) => {
      ids += 1
      return `${prefix}_${String(ids).padStart(9, '0')}`
    },
  }
}

export function rowsOf(core: CoreState, account: string): AccountRows {
  const known = core.accounts.get(account)
  if (known !== undefined) return known
  const rows = newAccountRows(account)
  core.accounts.set(account, rows)
  return rows
}

export const stampAt = ({ newId }: CoreState, now: Date): Stamp => ({ now, newId })

/**
 * The part of a database transaction that the ledger uses: locking the purses it names. The
 * statement that posts one movement reports that it cannot, so the ledger's own code decides.
 */
export function memoryTx(core: CoreState): Tx {
  const lock = (columns: readonly Buffer[]) => {
    const [accounts = [], kinds = [], owners = []] = columns.map(textsOf)
    return accounts.map((account, at) => {
      const purse = { kind: kinds[at] as PurseKind, owner_id: owners[at] ?? '' }
      return lockPurse(rowsOf(core, account), purse)
    })
  }
  const tx = {
    rows: async (_sql: string, values: readonly unknown[]) =>
      values.length === LOCK_COLUMNS ? lock(values as Buffer[]) : [],
    run: async () => undefined,
    write: async () => undefined,
  }
  return tx as unknown as Tx
}

const LOCK_COLUMNS = 3
/** Dimensions, flags, type, length and lower bound of a PostgreSQL array. */
const ARRAY_HEADER_BYTES = 20

function textsOf(array: Buffer): string[] {
  const texts: string[] = []
  for (let at = ARRAY_HEADER_BYTES; at < array.length; ) {
    const end = at + 4 + array.readInt32BE(at)
    texts.push(array.toString('utf8', at + 4, end))
    at = end
  }
  return texts
}

/** After a commit: what was posted is stored. */
export function storePostings({ accounts }: CoreState): void {
  for (const { purses } of accounts.values()) {
    for (const purse of purses) {
      purse.is_changed = false
      purse.read_micros = purse.balance_micros
    }
  }
}
