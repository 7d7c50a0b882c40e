import { assert } from '#kernel/assert.ts'
import type { Outlet, StoredTransfer } from '#rails/chain/outlet.ts'
import type { SignedTransfer } from '#rails/signer/intent.ts'

/** One signed transfer of a withdrawal or of a sweep, as it was stored before it was sent. */
export type SentTransferRow = {
  attempt: number
  /** As its chain spells it. */
  txid: string
  raw: string
  signature: string
  expires_at: Date | null
  nonce: bigint | null
  created_at: Date
}

export function toSentTransferRow(
  { chain }: Outlet,
  signed: SignedTransfer,
  { attempt, now }: { attempt: number; now: Date },
): SentTransferRow {
  const { txid, raw, signature, expires_at_ms, nonce } = signed
  return {
    attempt,
    txid: chain.showTxid(txid),
    raw,
    signature,
    expires_at: expires_at_ms === null ? null : new Date(expires_at_ms),
    nonce: nonce === null ? null : BigInt(nonce),
    created_at: now,
  }
}

export const toStoredTransfer = (from: string, row: SentTransferRow): StoredTransfer => ({
  ...row,
  from,
  txid: row.txid.replace(/^0x/, ''),
})

export type Fate =
  | { fate: 'unknown' | 'dead' }
  | { fate: 'mined' | 'final'; ok: boolean; block_number: number; txid: string }

/**
 * What became of the attempts at one payment, the newest first. Attempts that share a place in the
 * order replace each other, and any of them may be the one that a block took.
 */
export async function findFate(
  outlet: Outlet,
  from: string,
  rows: readonly SentTransferRow[],
): Promise<Fate> {
  const [newest] = rows
  assert(newest !== undefined, 'what is signed has its bytes')
  let outcome: Fate = { fate: 'unknown' }
  for (const row of rows) {
    const found = await outlet.lookup(toStoredTransfer(from, row))
    if ('ok' in found) return { ...found, txid: row.txid }
    if (row === newest) outcome = found
  }
  return outcome
}

/** In nobody's block for so long that only a higher price will help. */
export function isStuck({ chain }: Outlet, newest: SentTransferRow, now: Date): boolean {
  const waited_ms = now.getTime() - newest.created_at.getTime()
  return newest.nonce !== null && waited_ms >= chain.settings.bump_after_seconds * 1_000
}
