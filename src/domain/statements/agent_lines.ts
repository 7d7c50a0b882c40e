import { statement_kinds } from '#contract/statements.ts'
import { findClientNames } from '#domain/credentials/grant_store.ts'
import { csvRow } from '#kernel/csv.ts'
import { dollarsFromMicros, type Micros, usdFromMicros } from '#kernel/money.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { periodOf } from './period.ts'
import { type KindSums, noSums, statementParts, sumOf } from './statement.ts'
import { findAgentLoads, findAgentSums } from './statement_store.ts'

/** An agent's month: money that it or its cards moved, by kind, and its loads. */
export type AgentLine = {
  /** Null for the owner's own line. */
  client_id: string | null
  name: string
  sums: KindSums
  loaded_micros: Micros
  unloaded_micros: Micros
}

/** One line per agent by name, then the owner's. The kinds of all lines add up to the statement. */
export async function agentLinesOf(
  tx: Tx,
  account_id: string,
  period_key: string,
): Promise<AgentLine[]> {
  const period = periodOf(period_key)
  const names = await findClientNames(tx, account_id)
  const lines = new Map<string | null, AgentLine>()
  const lineOf = (client_id: string | null): AgentLine => {
    const found = lines.get(client_id)
    if (found !== undefined) return found
    const name = client_id === null ? 'You' : (names.get(client_id) ?? client_id)
    const line = { client_id, name, sums: noSums(), loaded_micros: 0n, unloaded_micros: 0n }
    lines.set(client_id, line)
    return line
  }
  lineOf(null)
  for (const { client_id, movement, ...amounts } of await findAgentSums(tx, account_id, period)) {
    const { sums } = lineOf(client_id)
    for (const part of statementParts(movement, amounts)) sums[part.kind] += part.amount_micros
  }
  for (const { client_id, ...loads } of await findAgentLoads(tx, account_id, period)) {
    Object.assign(lineOf(client_id), loads)
  }
  return [...lines.values()].sort(byName)
}

function byName(one: AgentLine, other: AgentLine): number {
  if ((one.client_id === null) !== (other.client_id === null))
    return one.client_id === null ? 1 : -1
  return one.name.localeCompare(other.name, 'en') || (one.client_id === other.client_id ? 0 : 1)
}

const COLUMNS = [
  'agent',
  'client_id',
  ...statement_kinds.map((kind) => `${kind}_usd`),
  'total_usd',
  'loaded_usd',
  'unloaded_usd',
]

export function* writeAgentCsv(lines: readonly AgentLine[]): Generator<string> {
  yield csvRow(COLUMNS)
  for (const { name, client_id, sums, loaded_micros, unloaded_micros } of lines) {
    const kinds = statement_kinds.map((kind) => sums[kind])
    const amounts = [...kinds, sumOf(sums), loaded_micros, unloaded_micros]
    yield csvRow([name, client_id, ...amounts.map(dollarsFromMicros)])
  }
}

/** The same lines for programs, such as the panel. */
export function agentLineView({ name, client_id, sums, ...line }: AgentLine) {
  return {
    agent: name,
    client_id,
    ...Object.fromEntries(
      statement_kinds.map((kind) => [`${kind}_usd`, usdFromMicros(sums[kind])]),
    ),
    total_usd: usdFromMicros(sumOf(sums)),
    loaded_usd: usdFromMicros(line.loaded_micros),
    unloaded_usd: usdFromMicros(line.unloaded_micros),
  }
}
