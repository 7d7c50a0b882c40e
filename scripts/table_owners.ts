import { blankProse } from '#scripts/tidy/blank.ts'
import { isCode, isTest, lineAt, type SourceFile, type Violation } from '#scripts/tidy/source.ts'

/** The room that owns each table or view. Only files of that room write to it or lock its rows. */
export const table_owners: Readonly<Record<string, readonly string[]>> = {
  'platform/postgres': ['migrations', 'clock', 'task_runs', 'numbers'],
  'domain/ledger': ['purses', 'movements', 'purse_balances', 'entries'],
  'domain/events': ['account_sequences', 'events', 'outbox'],
  'domain/audit': ['audit_entries'],
  'domain/operators': ['operator_tokens', 'first_operator_tokens', 'operator_actions'],
  'domain/credentials': [
    'sessions',
    'api_keys',
    'api_key_uses',
    'oauth_grants',
    'oauth_payloads',
    'security_undos',
    'guesses',
    'password_reset_requests',
    'password_resets',
  ],
  'domain/risk': ['kill_switches', 'velocities'],
  'domain/accounts': ['accounts', 'recovery_codes', 'account_notes'],
  'domain/directory': ['cell', 'cell_move', 'directory_cells', 'directory_emails'],
  'domain/paid_calls': ['x402_payments', 'x402_transfers'],
  'domain/topups': [
    'topups',
    'deposit_addresses',
    'chain_cursors',
    'chain_faults',
    'chain_transfers',
    'address_holdings',
  ],
  'domain/budgets': ['budgets', 'budget_usage', 'budget_charges', 'approvals'],
  'domain/withdrawals': [
    'withdrawals',
    'withdrawal_transfers',
    'sweeps',
    'sweep_transfers',
    'sender_orders',
  ],
  'domain/cards': ['cards', 'card_reveals'],
  'domain/transactions': ['transactions'],
  'domain/disputes': ['disputes', 'evidence'],
  'domain/authorizations': [
    'network_messages',
    'early_reversals',
    'three_ds_challenges',
    'pending_clearings',
    'refund_parts',
  ],
  'domain/webhooks': ['webhooks', 'deliveries', 'delivery_attempts'],
  'domain/oauth_grants': ['mcp_sessions'],
  'domain/notices': ['notices', 'low_balances'],
  'domain/support': ['tickets', 'ticket_messages'],
  'domain/archive': [
    'history_floors',
    'archived_sums',
    'archived_networks',
    'retired_sequences',
    'archives',
  ],
  'domain/system': ['maintenances', 'proof_findings', 'proven_accounts', 'proof_cycles'],
  operations: ['stored_responses'],
}

/** Other rooms may not even read these: they call the owner instead. */
const PRIVATE_TABLES: readonly string[] = table_owners['domain/ledger'] ?? []

/** Files that read the ledger's tables all the same, with the reason. */
const PRIVATE_READERS: Readonly<Record<string, string>> = {
  'src/domain/paid_calls/payment_proofs.ts': 'proof: compares movements with payments',
  'src/domain/budgets/budget_proofs.ts': 'proof: compares movements with charges',
  'src/domain/topups/topup_proofs.ts': 'proof: compares movements with transfers',
  'src/domain/withdrawals/chain_proofs.ts': 'proof: compares custody with transfers',
  'src/domain/withdrawals/withdrawal_proofs.ts': 'proof: compares movements with withdrawals',
  'src/domain/disputes/dispute_proofs.ts': 'proof: compares movements with disputes',
  'src/domain/authorizations/hold_proofs.ts': 'proof: compares holds with their purse',
  'src/domain/authorizations/spending_proofs.ts': 'proof: compares counters with transactions',
  'src/domain/system/proof_store.ts': 'proof: finds accounts with new movements',
  'src/domain/system/prove_program.ts': 'proof: counts all movements',
}

/** Files that compute the names of the tables they write to, with the reason. */
const COMPUTED_WRITERS: Readonly<Record<string, string>> = {
  'src/domain/archive/leaving_store.ts': 'detaches and drops months of movements and transactions',
  'src/main/archive/restore_archive.ts': 'writes the rows of archived months',
  'src/platform/postgres/row_set.ts': 'the caller names the table',
  'src/platform/postgres/row_update.ts': 'the caller names the table',
  'src/platform/postgres/whole_tables.ts': 'the caller names the table',
  'src/platform/storage/sealed_column.ts': 'the caller names the table',
}

const owner_of = new Map(
  Object.entries(table_owners).flatMap(([room, tables]) => tables.map((table) => [table, room])),
)

type TableUse = { table: string; index: number }

const WRITE_VERBS = [
  'insert into',
  'update(?: only)?',
  'delete from',
  'merge into',
  'truncate(?: table)?',
  'copy',
  'lock table',
  'alter table(?: if exists)?(?: only)?',
  'drop table(?: if exists)?',
]
const WRITE = new RegExp(`\\b(?:${WRITE_VERBS.join('|')})\\s+(\\w+|\\$\\{)`, 'g')
const DECLARED_WRITE = /\b(?:row(?:Set|Update)(?:<\w+>)?|sealedColumn)\(\s*'(\w+)'/g
const READ = /(?<!\bdelete )\b(?:from|join)\s+(\w+)/g

function usesIn(text: string, pattern: RegExp): TableUse[] {
  return [...text.matchAll(pattern)].map((match) => ({ table: match[1] ?? '', index: match.index }))
}

const LOCK = /\bfor (?:no key update|key share|update|share)(?: of (\w+))?/g
const SOURCE = /\b(?:from|join)\s+(\w+)(?:\s+(?:as\s+)?(?!where\b|join\b|on\b|order\b)(\w+))?/g

/** The text of the select that ends at an index, without its subqueries. */
function selectBefore(text: string, end: number): string {
  let depth = 0
  let selected = ''
  for (let at = end - 1; at >= 0; at -= 1) {
    const character = text[at] ?? ''
    if (character === '`' || character === "'") {
      if (character === '`' || depth === 0) break
    }
    if (character === ')') depth += 1
    else if (character === '(') {
      if (depth === 0) break
      depth -= 1
    } else if (depth === 0) selected = character + selected
  }
  return selected
}

/** The tables whose rows a `for update` or `for share` locks. */
function locksIn(text: string): TableUse[] {
  return [...text.matchAll(LOCK)].flatMap((match) => {
    const sources = [...selectBefore(text, match.index).matchAll(SOURCE)]
    return sources
      .filter(([, table, alias]) => match[1] === undefined || [table, alias].includes(match[1]))
      .map(([, table = '']) => ({ table, index: match.index }))
  })
}

function writeViolation(path: string, table: string): { problem: string; fix: string } | undefined {
  if (table === '${') {
    const fix = 'Write the name of the table, so that its owner can be checked'
    return COMPUTED_WRITERS[path] !== undefined
      ? undefined
      : { problem: 'writes to a computed table', fix }
  }
  const owner = owner_of.get(table)
  if (owner === undefined || path.startsWith(`src/${owner}/`)) return undefined
  const fix = `Call a function of ${owner}, which owns the table`
  return { problem: `writes to or locks ${table}`, fix }
}

function readViolation(path: string, table: string): { problem: string; fix: string } | undefined {
  const owner = owner_of.get(table)
  if (!PRIVATE_TABLES.includes(table) || path.startsWith(`src/${owner}/`)) return undefined
  if (PRIVATE_READERS[path] !== undefined) return undefined
  const fix = `Call a function of ${owner}, or use its SQL (balances.ts, movement_sql.ts)`
  return { problem: `reads ${table}`, fix }
}

function fileViolations({ path, text }: SourceFile): Violation[] {
  const code = blankProse(text, ['comments'])
  const writes = [...usesIn(code, WRITE), ...usesIn(code, DECLARED_WRITE), ...locksIn(code)]
  const found = [
    ...writes.map((use) => ({ ...use, violation: writeViolation(path, use.table) })),
    ...usesIn(code, READ).map((use) => ({ ...use, violation: readViolation(path, use.table) })),
  ]
  return found.flatMap(({ index, violation }) =>
    violation === undefined ? [] : [{ path, line: lineAt(text, index), ...violation }],
  )
}

const CREATED = /^create (?:table|view) (\w+)/gm
const DROPPED = /^drop (?:table|view) (\w+)/gm

/** Every table or view of the migrations has one owner, and every listed one exists. */
function listViolations(files: readonly SourceFile[]): Violation[] {
  const path = 'scripts/table_owners.ts'
  const sql = files.filter(({ path }) => /^migrations\/.+\.sql$/.test(path))
  const named = (pattern: RegExp) =>
    sql.flatMap(({ text }) => usesIn(text, pattern).map(({ table }) => table))
  const dropped = named(DROPPED)
  const existing = named(CREATED).filter((table) => !dropped.includes(table))
  const listed = Object.values(table_owners).flat()
  const fix = 'List each table or view once, under the room that writes it'
  return [
    ...existing
      .filter((table) => !listed.includes(table))
      .map((table) => ({ path, line: 1, problem: `has no owner for ${table}`, fix })),
    ...listed
      .filter((table) => !existing.includes(table) && table !== 'migrations')
      .map((table) => ({ path, line: 1, problem: `lists ${table}, which does not exist`, fix })),
    ...listed
      .filter((table, at) => listed.indexOf(table) !== at)
      .map((table) => ({ path, line: 1, problem: `lists ${table} twice`, fix })),
  ]
}

export function tableOwnerViolations(files: readonly SourceFile[]): Violation[] {
  const code = files.filter(({ path }) => path.startsWith('src/') && isCode(path) && !isTest(path))
  const has_migrations = files.some(({ path }) => path.startsWith('migrations/'))
  return [...code.flatMap(fileViolations), ...(has_migrations ? listViolations(files) : [])]
}
