import type { CallCost, Costs } from './costs.ts'

/** What a program needs; all other figures follow from it and from the assumptions. */
export type Demand = { accounts: number; peak_per_second: number }

export type Assumptions = {
  /** Average load as a share of the peak. */
  average_share: number
  /** An authorization and its capture, reversal or refund. */
  messages_per_authorization: number
  /** Other calls for each card message, as in the mix: 70 messages, 20 reads, 5 writes, 5 MCP. */
  reads_per_message: number
  writes_per_message: number
  mcp_calls_per_message: number
  cores_per_server: number
  /** The rest is for failovers, vacuum and backups. */
  busy_share: number
  /** Disk of a server; at these rates it fills before the cores are busy. */
  disk_gb_per_server: number
  /** A primary, a synchronous standby and an asynchronous one. */
  copies: number
  /** Whole cells move between servers, so a server has several. */
  cells_per_server: number
  cells_max: number
  days_kept: { events: number; network_messages: number; transactions: number; movements: number }
  /** Archived bytes as a share of those online. */
  archived_share: number
  server_usd_per_year: number
  node_usd_per_year: number
  disk_usd_per_gb_year: number
  archive_usd_per_gb_year: number
}

export const assumptions: Assumptions = {
  average_share: 0.2,
  messages_per_authorization: 2,
  reads_per_message: 20 / 70,
  writes_per_message: 5 / 70,
  mcp_calls_per_message: 5 / 70,
  cores_per_server: 8,
  busy_share: 0.5,
  disk_gb_per_server: 8_000,
  copies: 3,
  cells_per_server: 8,
  cells_max: 128,
  days_kept: { events: 90, network_messages: 548, transactions: 730, movements: 730 },
  archived_share: 0.3,
  server_usd_per_year: 2_400,
  node_usd_per_year: 400,
  disk_usd_per_gb_year: 1.2,
  archive_usd_per_gb_year: 0.05,
}

export type Plan = {
  servers: number
  cells: number
  nodes: number
  /** Of one copy, when the oldest rows have reached their age. */
  online_gb: number
  /** Added to the archive every year. */
  archived_gb_per_year: number
  usd_per_year: number
}

const GB = 1e9
const DAY_S = 86_400
const YEAR_DAYS = 365

export function planFor(
  { accounts, peak_per_second }: Demand,
  costs: Costs,
  a = assumptions,
): Plan {
  const messages_per_second = peak_per_second * a.messages_per_authorization
  const { service_us, postgres_us } = costOfMessage(costs, a)
  const server_per_second = (a.cores_per_server * a.busy_share * 1e6) / postgres_us
  const node_per_second = (a.busy_share * 1e6) / service_us
  // Two at least, so that one may fail.
  const nodes = Math.max(2, Math.ceil(messages_per_second / node_per_second))
  const per_day = messages_per_second * a.average_share * DAY_S
  const tables = Object.keys(costs.bytes) as (keyof Costs['bytes'])[]
  const online = tables.reduce(
    (sum, table) => sum + per_day * a.days_kept[table] * costs.bytes[table],
    accounts * costs.account_bytes,
  )
  const { transactions, movements } = costs.bytes
  const archived = per_day * YEAR_DAYS * (transactions + movements) * a.archived_share
  const primaries = Math.max(
    1,
    Math.ceil(messages_per_second / server_per_second),
    Math.ceil(online / GB / a.disk_gb_per_server),
  )
  const servers = primaries * a.copies
  return {
    servers,
    cells: primaries === 1 ? 1 : Math.min(a.cells_max, primaries * a.cells_per_server),
    nodes,
    online_gb: online / GB,
    archived_gb_per_year: archived / GB,
    usd_per_year:
      servers * a.server_usd_per_year +
      nodes * a.node_usd_per_year +
      (online / GB) * a.copies * a.disk_usd_per_gb_year +
      (archived / GB) * a.archive_usd_per_gb_year,
  }
}

/** A card message with its share of all other calls. */
export function costOfMessage(costs: Costs, a = assumptions): CallCost {
  const sum = (part: keyof CallCost) =>
    costs.card_message[part] +
    costs.read[part] * a.reads_per_message +
    costs.write[part] * a.writes_per_message +
    costs.mcp[part] * a.mcp_calls_per_message
  return { service_us: sum('service_us'), postgres_us: sum('postgres_us') }
}

/** Card messages a second of a machine whose cores are all busy with them. */
export const predictPerSecond = (message_us: number, cores: number): number =>
  (cores * 1e6) / message_us

export const totalOf = ({ service_us, postgres_us }: CallCost): number => service_us + postgres_us
