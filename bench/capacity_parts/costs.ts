/**
 * What one card message costs, measured by `npm run bench -- authorizations mixed` on two ARM cores
 * with nothing else running. Bytes are from 4.6 million stored authorizations.
 */
export const costs = {
  /** CPU of the service for an authorization over TCP, with its codec. */
  service_us: 120,
  /** The same without codec and sockets: the engine and the database client. */
  engine_us: 75,
  /** CPU of PostgreSQL for an authorization, in batches. */
  postgres_us: 145,
  /** CPU of the bench's own client, which shared the two cores. */
  client_us: 60,
  /** Stored bytes of one card message by table. */
  bytes: { events: 1_922, network_messages: 1_201, transactions: 1_012, movements: 415 },
  /** An account with a card, its rows and index entries. */
  account_bytes: 12_000,
}

export type Costs = typeof costs

/** Throughput that was measured when both cores were busy. The plan must predict it. */
export const measured_points = [
  {
    name: 'TCP, 256 in flight',
    per_second: 5_446,
    parts: ['service_us', 'postgres_us', 'client_us'],
  },
  { name: 'engine only', per_second: 9_300, parts: ['engine_us', 'postgres_us'] },
] as const satisfies readonly MeasuredPoint[]

type MeasuredPoint = {
  name: string
  per_second: number
  /** What ran on the cores. */
  parts: readonly ('service_us' | 'engine_us' | 'postgres_us' | 'client_us')[]
}
