import { assert } from '#kernel/assert.ts'
import type { ChainSender, StoredTransfer, TransferResult } from '#rails/chain/sender.ts'
import type { SignedTransfer } from '#rails/signer/intent.ts'

/** A signed transfer of a withdrawal or a sweep, stored before it is sent. */
export type SentTransferRow = {
  attempt: number
  /** In the chain's own notation. */
  txid: string
  raw: string
  signature: string
  expires_at: Date | null
  nonce: bigint | null
  created_at: Date
}

export function toSentTransferRow(
  { chain }: ChainSender,
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

export type TransferOutcome =
  | { outcome: 'unknown' | 'dead' }
  | ({ outcome: 'mined' | 'final' } & MinedTransfer)

/** The block of a transfer, its effect there, and which of the attempts it contains. */
export type MinedTransfer = { result: TransferResult; block_number: number; txid: string }

/**
 * The outcome of a payment from all its attempts, newest first. Attempts with the same nonce
 * replace each other, and any of them may be in a block.
 */
export async function findOutcome(
  chain_sender: ChainSender,
  from: string,
  rows: readonly SentTransferRow[],
): Promise<TransferOutcome> {
  const [newest] = rows
  assert(newest !== undefined, 'a signed payment has its signed bytes')
  let of_newest: TransferOutcome = { outcome: 'unknown' }
  for (const row of rows) {
    const found = await chain_sender.lookup(toStoredTransfer(from, row))
    if ('result' in found) return { ...found, txid: row.txid }
    if (row === newest) of_newest = found
  }
  return of_newest
}

/** It has waited so long for a block that only a higher fee helps. */
export function isStuck({ chain }: ChainSender, newest: SentTransferRow, now: Date): boolean {
  const waited_ms = now.getTime() - newest.created_at.getTime()
  return newest.nonce !== null && waited_ms >= chain.settings.bump_after_seconds * 1_000
}
