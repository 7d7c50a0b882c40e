import type { Database } from '#platform/postgres/db.ts'
import { mapInParallel } from '#platform/runtime/map_in_parallel.ts'
import type { Chain } from '#rails/chain/chain.ts'
import type {
  AssetTransfer,
  BlockHeader,
  DepositSource,
  TransferLog,
} from '#rails/chain/deposit_source.ts'
import {
  type CursorRow,
  findAddressOwners,
  findConfirming,
  findWatchedAddresses,
} from './chain_store.ts'
import { isNonZero, type OwnedDeposit, transferKey } from './deposits.ts'
import type { PendingTransfer } from './topup.ts'

/** The node's data contradicts itself, or a block that was final before. */
export class ChainFault extends Error {}

export type ChainScan = {
  head: BlockHeader
  finalized: BlockHeader
  deposits: OwnedDeposit[]
  /** Pending transfers without a log whose receipt the node still has: the node lost the log. */
  kept: PendingTransfer[]
}

/** Blocks below the cursor that are read again, because a load balancer may use a lagging node. */
const OVERLAP_BLOCKS = 20

/** Above this, every transfer of the asset is read and filtered here: the cost stays constant. */
const ADDRESSES_MAX = 4_000

/** One at a time, the many small deposits of one customer would delay those of all others. */
const REQUESTS_IN_PARALLEL = 10

type ScanSource = { db: Database; chain: Chain; source: DepositSource }

/** Null if the head changed during the scan; the next run scans again. */
export async function readDeposits(
  scan: ScanSource,
  cursor: CursorRow | undefined,
): Promise<ChainScan | null> {
  const { db, chain, source } = scan
  const finalized = await source.finalized()
  const head = await source.head()
  if (finalized.number > head.number) throw new ChainFault('the final block is above the head')
  await requireSameHistory(source, finalized, cursor)
  const from = firstBlock(chain, cursor, finalized)
  const to = await findWatchedAddresses(db, chain.name, ADDRESSES_MAX)
  const contracts = chain.assets.map(({ contract }) => contract)
  const logs =
    to?.length === 0 ? [] : await source.logs({ from, to: head.number }, { contracts, to })
  const deposits = await verifyLogs(scan, logs, finalized)
  const kept = await findUnlogged(scan, deposits)
  const [head_again, finalized_again] = [
    await source.block(head.number),
    await source.block(finalized.number),
  ]
  if (finalized_again?.hash !== finalized.hash) {
    throw new ChainFault('a final block changed while it was read')
  }
  return head_again?.hash === head.hash ? { head, finalized, deposits, kept } : null
}

/** A final block must never change. */
async function requireSameHistory(
  source: DepositSource,
  finalized: BlockHeader,
  cursor: CursorRow | undefined,
): Promise<void> {
  if (cursor === undefined) return
  const number = Number(cursor.finalized_number)
  if (finalized.number < number) {
    throw new ChainFault('the node is behind a block that was final before')
  }
  const block = await source.block(number)
  if (block?.hash !== cursor.finalized_hash) {
    throw new ChainFault('a block that was final is no longer on the chain')
  }
}

/** The first scan reaches back one hour of TRON blocks. */
const FIRST_SCAN_BLOCKS = 1_200

function firstBlock(chain: Chain, cursor: CursorRow | undefined, finalized: BlockHeader): number {
  const { start_block } = chain.settings
  const from =
    cursor === undefined
      ? (start_block ?? finalized.number - FIRST_SCAN_BLOCKS)
      : Number(cursor.finalized_number) - OVERLAP_BLOCKS
  return Math.max(0, from)
}

/**
 * Logs alone are not trusted. The receipt of each log to one of our addresses must report success
 * and the same transfer, and its block must be on the chain.
 */
async function verifyLogs(
  { db, chain, source }: ScanSource,
  logs: readonly TransferLog[],
  finalized: BlockHeader,
): Promise<OwnedDeposit[]> {
  const assets = new Map(chain.assets.map(({ asset, contract }) => [contract, asset]))
  const owners = await findAddressOwners(db, chain.name, [...new Set(logs.map(({ to }) => to))])
  const ours = logs.filter(
    (log) => owners.has(log.to) && assets.has(log.contract) && isNonZero(log),
  )
  const receipts = await readAll(new Set(ours.map(({ txid }) => txid)), source.receipt)
  const blocks = await readAll(new Set(ours.map((log) => log.block_number)), source.block)
  const deposits: OwnedDeposit[] = []
  for (const log of ours) {
    const owner = owners.get(log.to)
    const receipt = receipts.get(log.txid)
    const block = blocks.get(log.block_number)
    const ordinal = receipt?.logs.findIndex(({ log_index }) => log_index === log.log_index) ?? -1
    const isVerified =
      receipt?.ok === true &&
      receipt.block_hash === log.block_hash &&
      block?.hash === log.block_hash &&
      isSameTransfer(receipt.logs[ordinal]?.transfer, log)
    if (!isVerified && log.block_number <= finalized.number && receipt?.ok !== false) {
      throw new ChainFault(`the node contradicts itself about ${log.txid}`)
    }
    if (!isVerified || owner === undefined || block === null || block === undefined) continue
    const { txid, block_number, block_hash, from, to, value } = log
    const asset = assets.get(log.contract) ?? ''
    const block_at = new Date(block.timestamp_ms)
    deposits.push({
      ...owner,
      txid,
      ordinal,
      block_number,
      block_hash,
      block_at,
      asset,
      from,
      to,
      value,
    })
  }
  return deposits
}

async function readAll<Key, Value>(
  keys: ReadonlySet<Key>,
  read: (key: Key) => Promise<Value>,
): Promise<Map<Key, Value>> {
  const pairOf = async (key: Key) => [key, await read(key)] as const
  return new Map(await mapInParallel([...keys], REQUESTS_IN_PARALLEL, pairOf))
}

const isSameTransfer = (one: AssetTransfer | null | undefined, other: AssetTransfer): boolean =>
  one?.contract === other.contract &&
  one.from === other.from &&
  one.to === other.to &&
  one.value === other.value

/** If such a transfer is final already, the audit of whole blocks settles it. */
async function findUnlogged(
  { db, chain, source }: ScanSource,
  deposits: readonly OwnedDeposit[],
): Promise<PendingTransfer[]> {
  const seen = new Set(deposits.map(transferKey))
  const before = (await findConfirming(db, chain.name)).flatMap(({ pending }) => pending)
  const unlogged = before.filter((pending) => !seen.has(transferKey(pending)))
  const receipts = await readAll(new Set(unlogged.map(({ txid }) => txid)), source.receipt)
  return unlogged.flatMap((one) => {
    const receipt = receipts.get(one.txid)
    const isOnChain = receipt?.ok === true && receipt.logs.length > one.ordinal
    return isOnChain ? [{ ...one, block_number: receipt.block_number }] : []
  })
}
