export type CallCost = { service_us: number; postgres_us: number }

/**
 * What calls cost. CPU by kind is from `npm run bench -- mixed` on two x64 cores, each kind alone
 * at its rate in a mix with 500 card messages a second, about what a node gets in a plan.
 * docs/performance.md has it for the service; PostgreSQL took about as much again. Bytes are from
 * 4.6 million stored authorizations.
 */
export const costs = {
  /** With its fan-out, and half a webhook. */
  card_message: { service_us: 912, postgres_us: 912 },
  read: { service_us: 872, postgres_us: 872 },
  write: { service_us: 2_298, postgres_us: 2_298 },
  mcp: { service_us: 950, postgres_us: 950 },
  /** A card message in full batches, without webhooks or other calls, on two ARM cores. */
  alone: { service_us: 120, postgres_us: 145 },
  /** The bench's own client, which shared these cores. */
  client_us: 60,
  /** Stored bytes of one card message by table. */
  bytes: { events: 1_922, network_messages: 1_201, transactions: 1_012, movements: 415 },
  /** An account with a card, its rows and index entries. */
  account_bytes: 12_000,
}

export type Costs = typeof costs

/** Card messages a second that were measured when both cores were busy, 256 in flight. */
export const measured = { alone: 5_446, mix: 1_389 }
