import type { RunningProof } from '#domain/context/proof.ts'
import type { SnapshotReader } from '#platform/postgres/snapshot.ts'

/** All numbers up to `prefix` were seen, and those in `ahead`, whose ID is older. */
type Sequences = { through: string; prefix: number; ahead: number[] }

const PAGE = 20_000

/** Reads an account's sequence numbers in the order of IDs: 1, 2, 3 … up to its sequence row. */
export const running_sequences: RunningProof<Sequences> = {
  name: "an account's events are numbered without a gap, and no number is used twice",
  key: 'sequences',
  start: async (reader, account_id) => ({ through: '', ...(await retired(reader, account_id)) }),
  advance: async (reader, account_id, { from, settled }) => {
    const counter = new SequenceCounter(from.prefix, from.ahead)
    let { through } = from
    for (let more = through < settled; more; ) {
      const page = await readPage(reader, account_id, { after: through, through: settled })
      counter.add(page)
      more = page.length === PAGE
      through = more ? (page.at(-1)?.body ?? settled) : settled
    }
    const state = { through, prefix: counter.prefix, ahead: counter.ahead() }
    for (let after = through, more = true; more; ) {
      const page = await readPage(reader, account_id, { after, through: 'z' })
      counter.add(page)
      more = page.length === PAGE
      after = page.at(-1)?.body ?? after
    }
    const sentences = [...counter.duplicates, ...counter.missing(await lastOf(reader, account_id))]
    const found = { id: account_id, sentence: sentences.join(' ') }
    return { state, sentences: sentences.length === 0 ? [] : [found] }
  },
}

/** The numbers of deleted events: all up to `prefix`, and a few whose ID is older than others. */
async function retired(
  reader: SnapshotReader,
  account_id: string,
): Promise<Omit<Sequences, 'through'>> {
  const rows = await reader.rows<{ first: bigint; end: bigint }>(
    `select lower(r) as first, upper(r) as end
       from retired_sequences, unnest(numbers) as r
      where account_id = $1 order by 1`,
    [account_id],
  )
  const ranges = rows.map(({ first, end }) => ({ first: Number(first), end: Number(end) }))
  const prefix = ranges[0]?.first === 1 ? ranges[0].end - 1 : 0
  const ahead = ranges
    .filter(({ first }) => first > prefix)
    .flatMap(({ first, end }) => Array.from({ length: end - first }, (_, at) => first + at))
  return { prefix, ahead }
}

class SequenceCounter {
  prefix: number
  readonly #ahead: Set<number>
  readonly duplicates: string[] = []

  constructor(prefix: number, ahead: readonly number[]) {
    this.prefix = prefix
    this.#ahead = new Set(ahead)
  }

  add(events: readonly { sequence: bigint }[]): void {
    for (const { sequence } of events) this.#addOne(Number(sequence))
  }

  #addOne(sequence: number): void {
    if (sequence <= this.prefix || this.#ahead.has(sequence)) {
      this.duplicates.push(`Two events have the number ${sequence}.`)
      return
    }
    this.#ahead.add(sequence)
    while (this.#ahead.delete(this.prefix + 1)) this.prefix += 1
  }

  ahead(): number[] {
    return [...this.#ahead]
  }

  missing(last: number): string[] {
    if (this.prefix === last && this.#ahead.size === 0) return []
    return [
      `The events are numbered up to ${this.prefix} without a gap; the sequence row has ${last}.`,
    ]
  }
}

function readPage(
  reader: SnapshotReader,
  account_id: string,
  { after, through }: { after: string; through: string },
): Promise<{ body: string; sequence: bigint }[]> {
  return reader.rows(
    `select substr(id, 5) as body, sequence from events
      where account_id = $1 and id > 'evt_' || $2 and id <= 'evt_' || $3 and sequence is not null
      order by id limit ${PAGE}`,
    [account_id, after, through],
  )
}

async function lastOf(reader: SnapshotReader, account_id: string): Promise<number> {
  const [row] = await reader.rows<{ event_sequence: bigint }>(
    'select event_sequence from account_sequences where account_id = $1',
    [account_id],
  )
  return Number(row?.event_sequence ?? 0n)
}
