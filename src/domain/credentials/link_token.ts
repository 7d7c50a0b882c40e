import { cellOfSecret, markSecret } from '#kernel/cell.ts'
import type { Random } from '#platform/runtime/random.ts'

const BYTES = 32
const LENGTH = 43

export type LinkTokenContext = { random: Random; settings: { cell: number } }

/** A token for a link or a short-lived grant: 256 random bits, and the number of its cell. */
export function newLinkToken({ random, settings }: LinkTokenContext): string {
  return markSecret(Buffer.from(random.bytes(BYTES)).toString('base64url'), settings.cell)
}

/** The cell of a link's token or an OAuth token; null if it names none. */
export const cellOfLinkToken = (token: string): number | null => cellOfSecret(token, LENGTH)
