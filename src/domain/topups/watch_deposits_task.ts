import { withLease } from '#platform/postgres/lease.ts'
import { forEachAlone } from '#platform/runtime/for_each_alone.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Chain } from '#rails/chain/chain.ts'
import type { DepositSource } from '#rails/chain/deposit_source.ts'
import type { NetworkCheck } from '#rails/chain/network_check.ts'
import {
  advanceCursor,
  findConfirming,
  findCursor,
  recordFault,
  recordUnsettled,
  UNSETTLED,
} from './chain_store.ts'
import { type OwnedDeposit, transferKey } from './deposits.ts'
import { findFresh, screenDeposits } from './fresh_deposits.ts'
import { ChainFault, type ChainScan, readDeposits } from './read_deposits.ts'
import { type DepositUpdate, settleDeposits } from './settle_deposits.ts'
import type { TopupDependencies } from './topup_dependencies.ts'
import { hasClosedWindow } from './topup_store.ts'

export type WatchedChain = { chain: Chain; source: DepositSource; check: NetworkCheck }

/** TRON has a block every three seconds; a shorter interval shows it sooner. */
const EVERY_MS = 1_000
/** Without recent activity on this node, nobody is waiting for a deposit to appear. */
const IDLE_MS = 5_000

/**
 * An unchanged head means an unchanged chain, so the scan is skipped. A node can still correct its
 * logs of the same chain, so the scan is repeated after this time, and when a top-up's window has
 * closed: it expires once the chain was read after that.
 */
const RESCAN_MS = 10_000

/**
 * Reads each chain and settles its deposits. A lease keeps a chain to one node; should two nodes
 * run anyway, the second finds every deposit settled.
 */
export function watchDepositsTask(
  dependencies: TopupDependencies,
  chains: readonly WatchedChain[],
): Task {
  const { db, clock } = dependencies
  const scanned_heads = new Map<string, string>()
  return {
    name: 'watch_deposits',
    every_ms: EVERY_MS,
    idle_ms: IDLE_MS,
    at_start: true,
    run: () =>
      forEachAlone(chains, (watched) => {
        const { name } = watched.chain
        return withLease(db, `watch:${name}`, async (lease) => {
          await watched.check()
          await watchChain({ ...dependencies, db: lease.guard(db), scanned_heads }, watched)
        }).catch(async (cause: unknown) => {
          await recordFault(db, name, { fault: messageOf(cause), now: clock.now() })
          throw cause
        })
      }),
  }
}

const messageOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))

type WatchContext = TopupDependencies & {
  /** The hash of each chain's head at the last complete scan of this node. */
  scanned_heads: Map<string, string>
}

async function watchChain(context: WatchContext, { chain, source }: WatchedChain): Promise<void> {
  const { db, clock, scanned_heads } = context
  const now = clock.now()
  const cursor = await findCursor(db, chain.name)
  if (cursor?.audit_fault != null) throw new ChainFault(cursor.audit_fault)
  const isRecent =
    cursor?.fault === null &&
    Math.abs(now.getTime() - cursor.scanned_at.getTime()) < RESCAN_MS &&
    !(await hasClosedWindow(db, cursor, now))
  if (isRecent && (await source.head()).hash === scanned_heads.get(chain.name)) return
  scanned_heads.delete(chain.name)
  const scan = await readDeposits({ db, chain, source }, cursor)
  if (scan === null) return
  const topups = await changedTopups(context, chain, scan)
  await forEachAlone(topups, async (topup) => {
    for (const part of partsOf(topup)) {
      const final_transfers = await screenDeposits(context, chain, part.final_deposits)
      await settleDeposits(context, chain, { ...part, final_transfers })
    }
  }).catch(async (cause: unknown) => {
    await recordUnsettled(db, { ...scan, chain: chain.name, now })
    throw new Error(UNSETTLED, { cause })
  })
  await advanceCursor(db, { ...scan, chain: chain.name, now })
  scanned_heads.set(chain.name, scan.head.hash)
}

/** The transfers of one top-up, before those that are final now are screened. */
type ChangedTopup = Omit<DepositUpdate, 'final_transfers' | 'pending'> & {
  final_deposits: readonly OwnedDeposit[]
  pending: NonNullable<DepositUpdate['pending']>
}

/**
 * Each top-up with transfers on the chain or with pending ones before. Those with few come first,
 * because thousands of transfers to one address take a while.
 */
async function changedTopups(
  { db }: TopupDependencies,
  chain: Chain,
  scan: ChainScan,
): Promise<ChangedTopup[]> {
  const { deposits, finalized, head, kept } = scan
  const isFinal = ({ block_number }: OwnedDeposit) => block_number <= finalized.number
  const finals = sortByBlock(await findFresh(db, chain, deposits.filter(isFinal)))
  const seen = deposits.filter((deposit) => !isFinal(deposit))
  const confirming = await findConfirming(db, chain.name)
  const owners = new Map(
    [...finals, ...seen, ...confirming].map(({ account_id, topup_id }) => [topup_id, account_id]),
  )
  const changed = [...owners].map(([topup_id, account_id]) => {
    const before = confirming.find((one) => one.topup_id === topup_id)?.pending ?? []
    const known = new Set(before.map(transferKey))
    return {
      account_id,
      topup_id,
      final_deposits: finals.filter((deposit) => deposit.topup_id === topup_id),
      pending: {
        seen: seen.filter((deposit) => deposit.topup_id === topup_id),
        kept: kept.filter((one) => known.has(transferKey(one))),
      },
      head_number: head.number,
    }
  })
  return changed.toSorted((a, b) => a.final_deposits.length - b.final_deposits.length)
}

function sortByBlock(deposits: readonly OwnedDeposit[]): OwnedDeposit[] {
  return deposits.toSorted((a, b) => a.block_number - b.block_number || a.ordinal - b.ordinal)
}

/** The transfers that one transaction settles. More would keep the account locked for too long. */
const TRANSFERS_PER_PART = 100

/** The final transfers of later parts count as pending until then. */
function* partsOf(topup: ChangedTopup): Generator<ChangedTopup> {
  const { final_deposits, pending } = topup
  let at = 0
  do {
    const next = at + TRANSFERS_PER_PART
    const seen = [...final_deposits.slice(next), ...pending.seen]
    yield {
      ...topup,
      final_deposits: final_deposits.slice(at, next),
      pending: { ...pending, seen },
    }
    at = next
  } while (at < final_deposits.length)
}
