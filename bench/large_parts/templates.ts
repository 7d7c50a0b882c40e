import { genesisHash } from '#domain/audit/audit.ts'
import type { Tx } from '#platform/postgres/db.ts'

/** Rows of one table as COPY text, in pieces between the IDs' endings. */
export type Template = { table: string; columns: string[]; pieces: string[]; rows: number }

/**
 * Lists and proofs read neither the bodies of events nor network messages, which are two thirds of
 * the bytes of a purchase. Deliveries have left the outbox.
 */
const LEFT_OUT = new Set(['outbox', 'network_messages'])
/** The hash with which an account's audit log begins, made from the account's ID. */
const GENESIS = '#genesis'
const CHANGED_COLUMNS: Record<string, string> = {
  'events.sequence': 'null',
  'events.body': 'null',
  'account_sequences.event_sequence': '0',
  'account_sequences.audit_hash': `'${GENESIS}'`,
  'transactions.message_identity': 'null',
}

/** IDs keep their time and their order within it; each copy gets another ending. */
const ENDING_LETTERS = 10
const ID = /\b([a-z]{2,5}_[0-9a-hjkmnp-tv-z]{16})[0-9a-hjkmnp-tv-z]{10}\b/g
const MARK = '\u0001'

type Filter = { where: string; values: readonly unknown[] }

/** The rows of an account in all tables. */
export async function readAccount(tx: Tx, account_id: string): Promise<Template[]> {
  const templates: Template[] = []
  for (const { table, columns } of await tablesOfAccounts(tx)) {
    const where = `${table === 'accounts' ? 'id' : 'account_id'} = $1`
    templates.push(await readTemplate(tx, table, columns, { where, values: [account_id] }))
  }
  return templates.filter(({ rows }) => rows > 0)
}

/** The rows of a transaction and its event, with the account and the card unchanged. */
export async function readDecline(tx: Tx, account_id: string, id: string): Promise<Template[]> {
  const tables = await tablesOfAccounts(tx)
  const filters = { transactions: 'id', events: 'resource_id' }
  const templates = Object.entries(filters).map(([table, column]) => {
    const { columns = [] } = tables.find((each) => each.table === table) ?? {}
    const where = `account_id = $1 and ${column} = $2`
    return readTemplate(tx, table, columns, { where, values: [account_id, id] }, /^(txn|evt)_/)
  })
  return Promise.all(templates)
}

async function tablesOfAccounts(tx: Tx): Promise<{ table: string; columns: string[] }[]> {
  const tables = await tx.rows<{ table: string; columns: string[] }>(
    `select c.relname as table, array_agg(a.attname::text order by a.attnum) as columns
       from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
        and not c.relispartition and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      group by c.oid, c.relname
     having c.relname = 'accounts' or 'account_id' = any(array_agg(a.attname::text))
      order by c.oid`,
  )
  return tables.filter(({ table }) => !LEFT_OUT.has(table))
}

async function readTemplate(
  tx: Tx,
  table: string,
  columns: string[],
  { where, values }: Filter,
  isCopied = /^/,
): Promise<Template> {
  const list = columns.map((name) => CHANGED_COLUMNS[`${table}.${name}`] ?? `${name}::text`)
  const found = await tx.rows<{ cells: (string | null)[] }>(
    `select array[${list.join(', ')}]::text[] as cells from ${table} where ${where}`,
    values,
  )
  const hash_at = columns.indexOf('pan_hash')
  const lines = found.map(({ cells }) =>
    cells
      .map((cell, at) => (at === hash_at ? `${cell?.slice(0, -ENDING_LETTERS)}${MARK}` : cell))
      .map((cell) => (cell === null ? '\\N' : escaped(cell, isCopied)))
      .join('\t'),
  )
  const text = lines.map((line) => `${line}\n`).join('')
  return { table, columns, pieces: text.split(MARK), rows: found.length }
}

function escaped(cell: string, isCopied: RegExp): string {
  return cell
    .replaceAll(ID, (whole, start: string) => (isCopied.test(whole) ? `${start}${MARK}` : whole))
    .replaceAll('\\', '\\\\')
    .replaceAll('\t', '\\t')
    .replaceAll('\n', '\\n')
}

/** The template's rows with other IDs. */
export function copyOf({ table, pieces }: Template, ending: string): string {
  const text = pieces.join(ending)
  if (table !== 'account_sequences') return text
  return text.replaceAll(HEAD, (_, id: string, rest: string) => id + rest + genesisHash(id))
}

const HEAD = new RegExp(`^(\\S+)(.*)${GENESIS}`, 'gm')

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** Counts upwards, so that the rows of a template are appended to the indexes. */
export function endingOf(copy: number): string {
  let ending = ''
  for (let left = copy; ending.length < ENDING_LETTERS; left = Math.floor(left / 32)) {
    ending = `${ALPHABET[left % 32]}${ending}`
  }
  return ending
}
