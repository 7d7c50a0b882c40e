import type { RunningProof } from '#domain/context/proof.ts'
import { decimalFromMicros, type Micros } from '#kernel/money.ts'
import type { SnapshotReader } from '#platform/postgres/snapshot.ts'

/** The sums of all entries up to a movement, by purse: "kind|owner". */
type Sums = { through: string; sums: Record<string, string> }

/** The movements that one statement adds up. */
const PAGE = 50_000

/** Adds the entries of an account up to its stored balances. External purses have none. */
export const running_balances: RunningProof<Sums> = {
  name: 'every balance equals its entries',
  key: 'balances',
  start: async (reader, account_id) => ({
    through: '',
    sums: textsOf(await archivedSums(reader, account_id)),
  }),
  advance: async (reader, account_id, { from, settled }) => {
    const sums = new Map(
      Object.entries(from.sums).map(([purse, micros]) => [purse, BigInt(micros)]),
    )
    let { through } = from
    while (through < settled) {
      const end = await pageEnd(reader, account_id, { through, settled })
      await addEntries(reader, account_id, { sums, after: through, through: end })
      through = end
    }
    const state = { through, sums: textsOf(sums) }
    await addEntries(reader, account_id, { sums, after: through, through: 'z' })
    const stored = await balancesOf(reader, account_id)
    const sentences = [...new Set([...sums.keys(), ...stored.keys()])]
      .filter((purse) => isStored(purse) && (sums.get(purse) ?? 0n) !== (stored.get(purse) ?? 0n))
      .map((purse) => ({
        id: purse.slice(purse.indexOf('|') + 1) || kindOf(purse),
        sentence: differenceOf(purse, stored.get(purse) ?? 0n, sums.get(purse) ?? 0n),
      }))
    return { state, sentences }
  },
}

const STORED_KINDS = new Set(['treasury', 'payout', 'card', 'hold', 'receivable'])
const kindOf = (purse: string): string => purse.slice(0, purse.indexOf('|'))
const isStored = (purse: string): boolean => STORED_KINDS.has(kindOf(purse))

function differenceOf(purse: string, stored: Micros, sum: Micros): string {
  const [has, should] = [decimalFromMicros(stored), decimalFromMicros(sum)]
  return `The ${kindOf(purse)} purse has $${has}; its movements sum to $${should}.`
}

const textsOf = (sums: ReadonlyMap<string, Micros>): Record<string, string> =>
  Object.fromEntries([...sums].map(([purse, micros]) => [purse, micros.toString()]))

/** The end of the next page, at most `settled`. */
async function pageEnd(
  reader: SnapshotReader,
  account_id: string,
  { through, settled }: { through: string; settled: string },
): Promise<string> {
  const [row] = await reader.rows<{ end: string }>(
    `select substr(id, 5) as end from movements
      where account_id = $1 and id > 'bal_' || $2 and id <= 'bal_' || $3
      order by id offset ${PAGE - 1} limit 1`,
    [account_id, through, settled],
  )
  return row?.end ?? settled
}

type Range = { sums: Map<string, Micros>; after: string; through: string }

async function addEntries(
  reader: SnapshotReader,
  account_id: string,
  { sums, after, through }: Range,
): Promise<void> {
  const rows = await reader.rows<{ purse: string; micros: string }>(
    `select purse, sum(micros)::text as micros
       from (select from_kind, from_owner_id, to_kind, to_owner_id, amount_micros from movements
              where account_id = $1 and id > 'bal_' || $2 and id <= 'bal_' || $3 offset 0) m
      cross join lateral (values (from_kind || '|' || from_owner_id, -amount_micros),
                                 (to_kind || '|' || to_owner_id, amount_micros)) e (purse, micros)
      group by purse`,
    [account_id, after, through],
  )
  for (const { purse, micros } of rows) {
    sums.set(purse, (sums.get(purse) ?? 0n) + BigInt(micros))
  }
}

/** Movements in an archive are not read again: their sums were stored when they left. */
async function archivedSums(
  reader: SnapshotReader,
  account_id: string,
): Promise<Map<string, Micros>> {
  const rows = await reader.rows<{ purse: string; amount_micros: bigint }>(
    `select kind || '|' || owner_id as purse, amount_micros from archived_sums
      where account_id = $1`,
    [account_id],
  )
  return new Map(rows.map(({ purse, amount_micros }) => [purse, amount_micros]))
}

async function balancesOf(
  reader: SnapshotReader,
  account_id: string,
): Promise<Map<string, Micros>> {
  const rows = await reader.rows<{ purse: string; balance_micros: bigint }>(
    `select kind || '|' || owner_id as purse, balance_micros from purse_balances
      where account_id = $1`,
    [account_id],
  )
  return new Map(rows.map(({ purse, balance_micros }) => [purse, balance_micros]))
}
