import type { Dependencies } from '#domain/context/context.ts'
import { withLease } from '#platform/postgres/lease.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { AuditedReceipt, AuditSource } from '#rails/chain/audit_source.ts'
import type { Chain } from '#rails/chain/chain.ts'
import type { BlockMark } from '#rails/chain/deposit_source.ts'
import type { NetworkCheck } from '#rails/chain/network_check.ts'
import { findCursor, advanceAudit, recordAuditFault, findAddressOwners, findRecordedByBlock } from './chain_store.ts'
import { type Deposit, type OwnedDeposit, transferKey } from './deposits.ts'
import { ChainFault } from './read_deposits.ts'
import { settleDeposits } from './settle_deposits.ts'
import { screenDeposits } from './watch_deposits_task.ts'

type Parts = Pick<Dependencies, 'db' | 'clock' | 'newId' | 'settings' | 'screener' | 'log'>
export type AuditedChain = { chain: Chain; source: AuditSource; check: NetworkCheck }

/** Blocks that are asked for side by side: one after the other 20,000 took a quarter of an hour. */
const BLOCKS_AT_ONCE = 20

/** One pass reads for so long; a chain that was away for long is caught up over several. */
const PASS_MS = 2_000

/**
 * A node whose log index has holes answers eth_getLogs with nothing and no error. So every final
 * block is read a second time as a whole, by another call, and what the logs had left out is
 * settled here. No address is forgotten this way, however many there are.
 */
export function auditDepositsTask(parts: Parts, audited: readonly AuditedChain[]): Task {
  return {
    name: 'audit_deposits',
    every_ms: 3_000,
    idle_ms: 6_000,
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
  const to = Number(cursor.finalized_number)
  // A node that does not have a block yet would show it as empty.
  if (to < from || (await source.finalNumber()) < to) return
  const end_ms = parts.clock.monotonic() + PASS_MS
  for (let first = from; first <= to; first += BLOCKS_AT_ONCE) {
    const last = Math.min(to, first + BLOCKS_AT_ONCE - 1)
    const numbers = Array.from({ length: last - first + 1 }, (_, at) => first + at)
    const blocks = await Promise.all(
      numbers.map(async (number) => ({ number, receipts: await source.receipts(number) })),
    )
    const recorded = await findRecordedByBlock(parts.db, chain.name, { from: first, to: last })
    for (const block of blocks) await auditBlock(parts, { chain, source, recorded }, block)
    await advanceAudit(parts.db, chain.name, last)
    if (parts.clock.monotonic() >= end_ms) return
  }
}

type Auditing = Pick<AuditedChain, 'chain' | 'source'> & {
  /** What was credited, by its block. */
  recorded: ReadonlyMap<number, readonly string[]>
}
type WholeBlock = { number: number; receipts: readonly AuditedReceipt[] }

async function auditBlock(
  parts: Parts,
  { chain, source, recorded }: Auditing,
  { number, receipts }: WholeBlock,
): Promise<void> {
  await requireAllRecorded(parts, chain, { number, receipts, recorded: recorded.get(number) ?? [] })
  const arrivals = receipts.flatMap((receipt) => arrivalsIn(chain, receipt))
  if (arrivals.length === 0) return
  const owners = await findAddressOwners(parts.db, chain.name, [...new Set(arrivals.map(({ to }) => to))])
  const block = arrivals.some(({ to }) => owners.has(to)) ? await source.block(number) : null
  const ours = arrivals.flatMap((arrival): OwnedDeposit[] => {
    const owner = owners.get(arrival.to)
    return owner === undefined || block === null ? [] : [{ ...owner, ...arrival, ...markOf(block) }]
  })
  for (const deposit of await screenDeposits(parts, chain, ours)) {
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
  chain: Chain,
  { number, receipts, recorded }: WholeBlock & { recorded: readonly string[] },
): Promise<void> {
  const there = new Set(
    receipts.flatMap(({ txid, transfers }) =>
      transfers.map((_, ordinal) => transferKey({ txid, ordinal })),
    ),
  )
  const stray = recorded.find((key) => !there.has(key))
  if (stray === undefined) return
  const fault = `a second look at block ${number} does not find the credited transfer ${stray}`
  await recordAuditFault(db, chain.name, fault)
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
