import type { Database } from '#platform/postgres/db.ts'
import { withLease } from '#platform/postgres/lease.ts'
import { forEachAlone } from '#platform/runtime/for_each_alone.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { AuditedReceipt, AuditSource } from '#rails/chain/audit_source.ts'
import type { Chain } from '#rails/chain/chain.ts'
import type { BlockHeader } from '#rails/chain/deposit_source.ts'
import type { NetworkCheck } from '#rails/chain/network_check.ts'
import {
  advanceAudit,
  type CursorRow,
  findAddressOwners,
  findCursor,
  findRecordedByBlock,
  recordAuditFault,
} from './chain_store.ts'
import { type Deposit, isNonZero, type OwnedDeposit, transferKey } from './deposits.ts'
import { findFresh, screenDeposits } from './fresh_deposits.ts'
import { ChainFault } from './read_deposits.ts'
import { settleDeposits } from './settle_deposits.ts'
import type { TopupDependencies } from './topup_dependencies.ts'

export type AuditedChain = { chain: Chain; source: AuditSource; check: NetworkCheck }

/** Blocks requested in parallel. One at a time, 20,000 blocks took a quarter of an hour. */
const BLOCKS_IN_PARALLEL = 20

/** The time one run may take; a long backlog is read over several runs. */
const RUN_MS = 2_000

/**
 * A node with gaps in its log index returns an empty eth_getLogs result without an error. This task
 * therefore reads the receipts of every final block with a different call and settles deposits that
 * the logs omitted. It compares all addresses, so the number of addresses doesn't matter.
 */
export function auditDepositsTask(
  dependencies: TopupDependencies,
  chains: readonly AuditedChain[],
): Task {
  return {
    name: 'audit_deposits',
    every_ms: 3_000,
    idle_ms: 6_000,
    run: () =>
      forEachAlone(chains, (audited) => {
        const { db } = dependencies
        return withLease(db, `audit:${audited.chain.name}`, (lease) =>
          auditChain({ ...dependencies, db: lease.guard(db) }, audited),
        )
      }),
  }
}

async function auditChain(
  dependencies: TopupDependencies,
  { chain, source, check }: AuditedChain,
): Promise<void> {
  const { db, clock } = dependencies
  const cursor = await findCursor(db, chain.name)
  if (cursor === undefined) return
  await check()
  const from = Number(cursor.audited_number) + 1
  const to = Number(cursor.finalized_number)
  // A node that doesn't have a block yet would return it as empty.
  if (to < from || (await source.finalNumber()) < to) return
  if (!(await isSameChain(db, source, cursor))) return
  const end_ms = clock.monotonic() + RUN_MS
  for (let first = from; first <= to; first += BLOCKS_IN_PARALLEL) {
    const last = Math.min(to, first + BLOCKS_IN_PARALLEL - 1)
    const numbers = Array.from({ length: last - first + 1 }, (_, at) => first + at)
    const blocks = await Promise.all(
      numbers.map(async (number) => ({ number, receipts: await source.receipts(number) })),
    )
    const recorded = await findRecordedByBlock(db, chain.name, { from: first, to: last })
    for (const block of blocks) await auditBlock(dependencies, { chain, source, recorded }, block)
    await advanceAudit(db, chain.name, last)
    if (clock.monotonic() >= end_ms) return
  }
}

/**
 * The audit's node may be another one than the watcher's. Both must have the same final block: the
 * transfers of another network are no deposits. False if the node doesn't show the block yet.
 */
async function isSameChain(
  db: Database,
  source: AuditSource,
  { chain, finalized_number, finalized_hash }: CursorRow,
): Promise<boolean> {
  const block = await source.block(Number(finalized_number))
  if (block === null) return false
  if (block.hash === finalized_hash) return true
  const fault = `the nodes have different blocks at ${finalized_number}, which is final`
  await recordAuditFault(db, chain, fault)
  throw new ChainFault(fault)
}

type AuditContext = Pick<AuditedChain, 'chain' | 'source'> & {
  /** The keys of recorded transfers by block number. */
  recorded: ReadonlyMap<number, readonly string[]>
}
type BlockReceipts = { number: number; receipts: readonly AuditedReceipt[] }

async function auditBlock(
  dependencies: TopupDependencies,
  { chain, source, recorded }: AuditContext,
  { number, receipts }: BlockReceipts,
): Promise<void> {
  const { db, log } = dependencies
  await requireRecordedOnChain(db, chain, {
    number,
    receipts,
    recorded: recorded.get(number) ?? [],
  })
  const received = receipts.flatMap((receipt) => assetTransfersIn(chain, receipt))
  if (received.length === 0) return
  const owners = await findAddressOwners(db, chain.name, [...new Set(received.map(({ to }) => to))])
  if (!received.some(({ to }) => owners.has(to))) return
  const block = await source.block(number)
  // Without its time the block is audited again; otherwise its deposits would be lost.
  if (block === null) throw new ChainFault(`the node has the receipts of ${number}, but no block`)
  const ours = received.flatMap((transfer): OwnedDeposit[] => {
    const owner = owners.get(transfer.to)
    return owner === undefined ? [] : [{ ...owner, ...transfer, ...blockFields(block) }]
  })
  const fresh = await screenDeposits(dependencies, chain, await findFresh(db, chain, ours))
  await forEachAlone(fresh, async (deposit) => {
    const { account_id, topup_id, txid } = deposit
    log.error(
      "a transfer is missing from the node's logs",
      { chain: chain.name, txid, topup_id },
      new Error('eth_getLogs is incomplete; check the node'),
    )
    // The audit knows final blocks only: what the watcher has seen since stays pending.
    const update = { account_id, topup_id, final_transfers: [deposit], pending: null }
    await settleDeposits(dependencies, chain, update)
  })
}

/** A recorded transfer that is not in its block means that a node returned false data. */
async function requireRecordedOnChain(
  db: Database,
  chain: Chain,
  { number, receipts, recorded }: BlockReceipts & { recorded: readonly string[] },
): Promise<void> {
  const on_chain = new Set(
    receipts.flatMap(({ txid, transfers }) =>
      transfers.map((_, ordinal) => transferKey({ txid, ordinal })),
    ),
  )
  const stray = recorded.find((key) => !on_chain.has(key))
  if (stray === undefined) return
  const fault = `block ${number} does not contain the recorded transfer ${stray}`
  await recordAuditFault(db, chain.name, fault)
  throw new ChainFault(fault)
}

const blockFields = ({ number, hash, timestamp_ms }: BlockHeader) => ({
  block_number: number,
  block_hash: hash,
  block_at: new Date(timestamp_ms),
})

type ReceivedTransfer = Omit<Deposit, 'block_number' | 'block_hash' | 'block_at'>

/** Transfers of configured assets that bring coins to any address. */
function assetTransfersIn(
  { assets }: Chain,
  { txid, transfers }: AuditedReceipt,
): ReceivedTransfer[] {
  return transfers.flatMap((transfer, ordinal) => {
    const known = assets.find(({ contract }) => contract === transfer?.contract)
    if (transfer === null || known === undefined || !isNonZero(transfer)) return []
    const { from, to, value } = transfer
    return [{ txid, ordinal, asset: known.asset, from, to, value }]
  })
}
