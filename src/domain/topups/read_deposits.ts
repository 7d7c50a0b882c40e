import type { Database } from '#platform/postgres/db.ts'
import type { Chain } from '#rails/chain/chain.ts'
import type {
  AssetTransfer,
  BlockMark,
  ChainReceipt,
  DepositSource,
  TransferLog,
} from '#rails/chain/deposit_source.ts'
import { type CursorRow, findConfirming, findAddressOwners, findWatchedAddresses } from './chain_store.ts'
import { type OwnedDeposit, transferKey } from './deposits.ts'
import type { PendingTransfer } from './topup.ts'

/** What the node says cannot all be true, or contradicts what was final before. */
export class ChainFault extends Error {}

export type Reading = {
  head: BlockMark
  finalized: BlockMark
  deposits: OwnedDeposit[]
  /** Pending before, in no log now, and yet the node has its receipt: the log was lost. */
  kept: PendingTransfer[]
}

/** So many blocks below the cursor are read again: a load balancer may have a lagging node. */
const OVERLAP_BLOCKS = 20

/** Beyond it every transfer of the asset is read and matched here, which costs the same for all. */
const ADDRESSES_MAX = 4_000

type Looking = { db: Database; chain: Chain; source: DepositSource }

/** Null where the chain changed while it was read: the next pass will see one state of it. */
export async function readDeposits(
  looking: Looking,
  cursor: CursorRow | undefined,
): Promise<Reading | null> {
  const { db, chain, source } = looking
  const finalized = await source.finalized()
  const head = await source.head()
  if (finalized.number > head.number) throw new ChainFault('the final block is above the head')
  await requireSameHistory(source, finalized, cursor)
  const from = firstBlock(chain, cursor, finalized)
  const to = await findWatchedAddresses(db, chain.name, ADDRESSES_MAX)
  const contracts = chain.assets.map(({ contract }) => contract)
  const logs =
    to?.length === 0 ? [] : await source.logs({ from, to: head.number }, { contracts, to })
  const deposits = await checked(looking, logs, finalized)
  const kept = await keptPending(looking, deposits)
  const [head_again, finalized_again] = [
    await source.block(head.number),
    await source.block(finalized.number),
  ]
  if (finalized_again?.hash !== finalized.hash) {
    throw new ChainFault('a final block changed while it was read')
  }
  return head_again?.hash === head.hash ? { head, finalized, deposits, kept } : null
}

/** What was final must still be there: below that edge nothing may ever change. */
async function requireSameHistory(
  source: DepositSource,
  finalized: BlockMark,
  cursor: CursorRow | undefined,
): Promise<void> {
  if (cursor === undefined) return
  const number = Number(cursor.finalized_number)
  if (finalized.number < number) {
    throw new ChainFault('the node is behind what was final before')
  }
  const block = await source.block(number)
  if (block?.hash !== cursor.finalized_hash) {
    throw new ChainFault('a block that was final is no longer on the chain')
  }
}

/** The very first look reaches back an hour's worth of TRON blocks. */
const FIRST_LOOK_BLOCKS = 1_200

function firstBlock(chain: Chain, cursor: CursorRow | undefined, finalized: BlockMark): number {
  const { start_block } = chain.settings
  const from =
    cursor === undefined
      ? (start_block ?? finalized.number - FIRST_LOOK_BLOCKS)
      : Number(cursor.finalized_number) - OVERLAP_BLOCKS
  return Math.max(0, from)
}

/**
 * Logs are hints. Each one that concerns us is looked up in its receipt, which must say success and
 * the same transfer, and stand in the same block as the log and as the chain.
 */
async function checked(
  { db, chain, source }: Looking,
  logs: readonly TransferLog[],
  finalized: BlockMark,
): Promise<OwnedDeposit[]> {
  const assets = new Map(chain.assets.map(({ asset, contract }) => [contract, asset]))
  const owners = await findAddressOwners(db, chain.name, [...new Set(logs.map(({ to }) => to))])
  const ours = logs.filter(
    ({ to, contract, value }) => owners.has(to) && assets.has(contract) && value > 0n,
  )
  const receipts = new Map<string, ChainReceipt | null>()
  const blocks = new Map<number, BlockMark | null>()
  const deposits: OwnedDeposit[] = []
  for (const log of ours) {
    const owner = owners.get(log.to)
    if (!receipts.has(log.txid)) receipts.set(log.txid, await source.receipt(log.txid))
    if (!blocks.has(log.block_number)) {
      blocks.set(log.block_number, await source.block(log.block_number))
    }
    const receipt = receipts.get(log.txid)
    const block = blocks.get(log.block_number)
    const ordinal = receipt?.logs.findIndex(({ log_index }) => log_index === log.log_index) ?? -1
    const isSound =
      receipt?.ok === true &&
      receipt.block_hash === log.block_hash &&
      block?.hash === log.block_hash &&
      isSameTransfer(receipt.logs[ordinal]?.transfer, log)
    if (!isSound && log.block_number <= finalized.number && receipt?.ok !== false) {
      throw new ChainFault(`the node contradicts itself about ${log.txid}`)
    }
    if (!isSound || owner === undefined || block === null || block === undefined) continue
    const { txid, block_number, block_hash, from, to, value } = log
    const asset = assets.get(log.contract) ?? ''
    const block_at = new Date(block.timestamp_ms)
    deposits.push({
      ...owner,
      ...{ txid, ordinal, block_number, block_hash, block_at, asset, from, to, value },
    })
  }
  return deposits
}

const isSameTransfer = (one: AssetTransfer | null | undefined, other: AssetTransfer): boolean =>
  one?.contract === other.contract &&
  one.from === other.from &&
  one.to === other.to &&
  one.value === other.value

/** A final one among them is settled by the audit of whole blocks. */
async function keptPending(
  { db, chain, source }: Looking,
  deposits: readonly OwnedDeposit[],
): Promise<PendingTransfer[]> {
  const seen = new Set(deposits.map(transferKey))
  const before = (await findConfirming(db, chain.name)).flatMap(({ pending }) => pending)
  const kept: PendingTransfer[] = []
  for (const one of before.filter((pending) => !seen.has(transferKey(pending)))) {
    const receipt = await source.receipt(one.txid)
    const isThere = receipt?.ok === true && receipt.logs.length > one.ordinal
    if (isThere) kept.push({ ...one, block_number: receipt.block_number })
  }
  return kept
}
