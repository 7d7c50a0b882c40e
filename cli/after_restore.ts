import { prepareRestored } from '#main/after_restore.ts'
import { withDatabase } from './with_database.ts'

export async function afterRestore(): Promise<void> {
  const { next_address_index, chains } = await withDatabase((db) => prepareRestored(db))
  const lines = [
    'Withdrawals, issuing and authorizations are paused by their kill switches.',
    `New deposit addresses begin at index ${next_address_index}.`,
    ...chains.map(({ chain, block }) => `Deposits on ${chain} are read again from block ${block}.`),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
