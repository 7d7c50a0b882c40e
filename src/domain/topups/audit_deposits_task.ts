import { bytesToHex } from '@noble/hashes/utils.js'
import type { Seams } from '#platform/context.ts'
import { withLease } from '#platform/lease.ts'
import type { Task } from '#platform/tasks.ts'
import type { Chain } from '#rails/chain/chain.ts'
import type { TronReceipt } from '#rails/chain/tron/http_answers.ts'
import type { TronHttpApi } from '#rails/chain/tron/http_api.ts'
import { readNumberWord, TRANSFER_TOPIC } from '#rails/chain/tron/trc20.ts'
import { findCursor, moveAudit, ownersOf } from './chain_store.ts'
import type { Deposit, OwnedDeposit } from './deposits.ts'
import { settleDeposits } from './settle_deposits.ts'
import { screened } from './watch_deposits_task.ts'

type Parts = Pick<Seams, 'db' | 'clock' | 'newId' | 'settings' | 'screener' | 'log'>
export type AuditedChain = { chain: Chain; api: TronHttpApi }

/** What one pass reads; a chain that was away for long is caught up over several. */
const BLOCKS_PER_PASS = 100

/**
 * A TRON node whose log index has holes answers eth_getLogs with nothing and no error. So every
 * final block is read a second time as a whole, by another call, and what the logs had left out is
 * settled here. No address is forgotten this way, however many there are.
 */
export function auditDepositsTask(parts: Parts, audited: readonly AuditedChain[]): Task {
  return {
    name: 'audit_deposits',
    every_ms: 3_000,
    pass: async () => {
      for (const one of audited) {
        await withLease(parts.db, `audit:${one.chain.name}`, () => audit(parts, one))
      }
    },
  }
}

async function audit(parts: Parts, { chain, api }: AuditedChain): Promise<void> {
  const cursor = await findCursor(parts.db, chain.name)
  if (cursor === undefined) return
  const from = Number(cursor.audited_number) + 1
  const to = Math.min(Number(cursor.finalized_number), from + BLOCKS_PER_PASS - 1)
  // A node that does not have a block yet would show it as empty.
  if (to < from || (await api.now('solid')).number < to) return
  for (let number = from; number <= to; number += 1) {
    await auditBlock(parts, { chain, api }, number)
    await moveAudit(parts.db, chain.name, number)
  }
}

async function auditBlock(
  parts: Parts,
  { chain, api }: AuditedChain,
  number: number,
): Promise<void> {
  const receipts = await api.receiptsOfBlock(number, 'solid')
  const found = receipts.filter(({ ok }) => ok).flatMap((receipt) => depositsIn(chain, receipt))
  if (found.length === 0) return
  const owners = await ownersOf(parts.db, chain.name, [...new Set(found.map(({ to }) => to))])
  const ours = found.flatMap((deposit) => {
    const owner = owners.get(deposit.to)
    return owner === undefined ? [] : [{ ...owner, ...deposit }]
  })
  if (ours.length === 0) return
  const block_hash = (await api.block(number))?.id ?? ''
  const owned: OwnedDeposit[] = ours.map((deposit) => ({ ...deposit, block_hash }))
  const missing = await screened(parts, chain, owned)
  for (const deposit of missing) {
    const { account_id, topup_id, txid } = deposit
    parts.log.error(
      'the logs of the chain lacked a transfer',
      { chain: chain.name, txid, topup_id },
      new Error('eth_getLogs is incomplete; see the node'),
    )
    const findings = { account_id, topup_id, finals: [deposit], pending: null }
    await settleDeposits(parts, chain, findings)
  }
}

function depositsIn(chain: Chain, receipt: TronReceipt): Deposit[] {
  const contracts = new Set(chain.assets.map(({ contract }) => contract))
  return receipt.logs.flatMap((log, ordinal) => {
    const [kind, from = '', to = ''] = log.topics
    const isTransfer = kind === TRANSFER_TOPIC && log.topics.length === 3 && log.data.length === 32
    if (!isTransfer || !contracts.has(bytesToHex(log.address))) return []
    const value = readNumberWord(log.data)
    if (value === 0n) return []
    return [
      {
        txid: receipt.txid,
        ordinal,
        block_number: receipt.block_number,
        block_hash: '',
        block_at: new Date(receipt.block_timestamp_ms),
        from: from.slice(24),
        to: to.slice(24),
        value,
      },
    ]
  })
}
