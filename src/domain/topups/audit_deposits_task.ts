import type { Seams } from '#platform/context.ts'
import { withLease } from '#platform/lease.ts'
import type { Task } from '#platform/tasks.ts'
import type { AuditedReceipt, AuditSource } from '#rails/chain/audit_source.ts'
import type { Chain } from '#rails/chain/chain.ts'
import type { BlockMark } from '#rails/chain/deposit_source.ts'
import type { NetworkCheck } from '#rails/chain/network_check.ts'
import { findCursor, moveAudit, noteAuditFault, ownersOf, recordedIn } from './chain_store.ts'
import { type Deposit, type OwnedDeposit, transferKey } from './deposits.ts'
import { ChainFault } from './read_deposits.ts'
import { settleDeposits } from './settle_deposits.ts'
import { screened } from './watch_deposits_task.ts'

type Parts = Pick<Seams, 'db' | 'clock' | 'newId' | 'settings' | 'screener' | 'log'>
export type AuditedChain = { chain: Chain; source: AuditSource; check: NetworkCheck }

/** What one pass reads; a chain that was away for long is caught up over several. */
const BLOCKS_PER_PASS = 100

/**
 * A node whose log index has holes answers eth_getLogs with nothing and no error. So every final
 * block is read a second time as a whole, by another call, and what the logs had left out is
 * settled here. No address is forgotten this way, however many there are.
 */
export function auditDepositsTask(parts: Parts, audited: readonly AuditedChain[]): Task {
  return {
    name: 'audit_deposits',
    every_ms: 3_000,
    pass: async () => {
      for (const one of audited) {
        await withLease(parts.db, `audit:${one.chain.name}`, (lease) =>
          audit({ ...parts, db: lease.guard(parts.db) }, one),
        )
      }
    },
  }
}

async function audit(parts: Parts, { chain, source, check }: AuditedChain): Promise<void> {
  const cursor = await findCursor(parts.db, chain.name)
  if (cursor === undefined) return
  await check()
  const from = Number(cursor.audited_number) + 1
  const to = Math.min(Number(cursor.finalized_number), from + BLOCKS_PER_PASS - 1)
  // A node that does not have a block yet would show it as empty.
  if (to < from || (await source.finalNumber()) < to) return
  for (let number = from; number <= to; number += 1) {
    await auditBlock(parts, { chain, source, check }, number)
    await moveAudit(parts.db, chain.name, number)
  }
}

async function auditBlock(
  parts: Parts,
  { chain, source }: AuditedChain,
  number: number,
): Promise<void> {
  const receipts = await source.receipts(number)
  await requireAllRecorded(parts, { chain, receipts, number })
  const arrivals = receipts.flatMap((receipt) => arrivalsIn(chain, receipt))
  if (arrivals.length === 0) return
  const owners = await ownersOf(parts.db, chain.name, [...new Set(arrivals.map(({ to }) => to))])
  const block = arrivals.some(({ to }) => owners.has(to)) ? await source.block(number) : null
  const ours = arrivals.flatMap((arrival): OwnedDeposit[] => {
    const owner = owners.get(arrival.to)
    return owner === undefined || block === null ? [] : [{ ...owner, ...arrival, ...markOf(block) }]
  })
  for (const deposit of await screened(parts, chain, ours)) {
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

/** The other way round: what was credited must be in the block. If it is not, a node has lied. */
async function requireAllRecorded(
  { db }: Parts,
  {
    chain,
    receipts,
    number,
  }: { chain: Chain; receipts: readonly AuditedReceipt[]; number: number },
): Promise<void> {
  const there = new Set(
    receipts.flatMap(({ txid, transfers }) =>
      transfers.map((_, ordinal) => transferKey({ txid, ordinal })),
    ),
  )
  const stray = (await recordedIn(db, chain.name, number)).find((key) => !there.has(key))
  if (stray === undefined) return
  const fault = `a second look at block ${number} does not find the credited transfer ${stray}`
  await noteAuditFault(db, chain.name, fault)
  throw new ChainFault(fault)
}

const markOf = ({ number, hash, timestamp_ms }: BlockMark) => ({
  block_number: number,
  block_hash: hash,
  block_at: new Date(timestamp_ms),
})

type Arrival = Omit<Deposit, 'block_number' | 'block_hash' | 'block_at'>

/** Transfers of configured assets, to anybody. */
function arrivalsIn({ assets }: Chain, { txid, transfers }: AuditedReceipt): Arrival[] {
  return transfers.flatMap((transfer, ordinal) => {
    const known = assets.find(({ contract }) => contract === transfer?.contract)
    if (transfer === null || known === undefined || transfer.value === 0n) return []
    const { from, to, value } = transfer
    return [{ txid, ordinal, asset: known.asset, from, to, value }]
  })
}
