import { assert } from '#kernel/assert.ts'
import { type Block, type Receipt, type Transaction, transactionOf } from './block.ts'

/** Blocks and transactions as JSON. */
export type SavedTransaction = { raw: string; signature: string; supports_others?: boolean }
type SavedMined = SavedTransaction & { receipt: Receipt }
export type SavedBlock = Omit<Block, 'mined' | 'undo' | 'fork'> & {
  /** Missing in old files. */
  fork?: number
  mined: SavedMined[]
  undo: [string, string][]
}

export function savedBlock({ mined, undo, ...block }: Block): SavedBlock {
  return {
    ...block,
    mined: mined.map((one) => ({ ...savedTransaction(one), receipt: one.receipt })),
    undo: undo.map(([key, value]) => [key, String(value)]),
  }
}

export function savedTransaction(transaction: Transaction): SavedTransaction {
  const { raw, signature, supports_others } = transaction
  return { raw, signature, ...(supports_others === undefined ? {} : { supports_others }) }
}

export function restored({ mined, undo, ...block }: SavedBlock): Block {
  return {
    fork: -1,
    ...block,
    mined: mined.map((one) => ({ ...readBack(one), receipt: one.receipt })),
    undo: undo.map(([key, value]) => [key, BigInt(value)]),
  }
}

export function readBack({ raw, signature, supports_others }: SavedTransaction): Transaction {
  const transaction = transactionOf(raw, signature)
  assert(transaction !== null, 'a saved transaction is readable')
  return supports_others === undefined ? transaction : { ...transaction, supports_others }
}
