/** Of 100 calls; the rest are MCP calls. */
export type Shares = { cards: number; reads: number; writes: number }

export const mixed_shares: Shares = { cards: 70, reads: 20, writes: 5 }
