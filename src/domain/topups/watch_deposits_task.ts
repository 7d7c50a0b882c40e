import type { Dependencies } from '#domain/context/context.ts'
import { withLease } from '#platform/postgres/lease.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Chain } from '#rails/chain/chain.ts'
import type { DepositSource } from '#rails/chain/deposit_source.ts'
import type { NetworkCheck } from '#rails/chain/network_check.ts'
import { findConfirming, findCursor, advanceCursor, recordFault, findRecordedKeys } from './chain_store.ts'
import { type OwnedDeposit, type ScreenedDeposit, transferKey } from './deposits.ts'
import { ChainFault, type Reading, readDeposits } from './read_deposits.ts'
import { type DepositUpdate, settleDeposits } from './settle_deposits.ts'

type Parts = Pick<Dependencies, 'db' | 'clock' | 'newId' | 'settings' | 'screener'>
export type WatchedChain = { chain: Chain; source: DepositSource; check: NetworkCheck }

/** A block comes every three seconds; a watcher that looks more often sees it sooner. */
const EVERY_MS = 1_000
/** Nobody has done anything here lately, so nobody waits at a screen for what they sent. */
const IDLE_MS = 5_000

/**
 * The same head means the same chain, and there is nothing new to read. Only a node can have
 * changed its mind about it, so after so long it is read again all the same.
 */
const READ_AGAIN_MS = 10_000

/**
 * Looks at each chain and settles what it finds. One node at a time does so for a chain; if two
 * ever did, the second would find everything settled.
 */
export function watchDepositsTask(parts: Parts, watched: readonly WatchedChain[]): Task {
  const read_heads = new Map<string, string>()
  return {
    name: 'watch_deposits',
    every_ms: EVERY_MS,
    idle_ms: IDLE_MS,
    at_start: true,
    pass: async () => {
      for (const one of watched) {
        await withLease(parts.db, `watch:${one.chain.name}`, async (lease) => {
          await one.check()
          await watch({ ...parts, db: lease.guard(parts.db), read_heads }, one)
        }).catch(async (cause: unknown) => {
          await recordFault(parts.db, one.chain.name, {
            fault: sentenceOf(cause),
            now: parts.clock.now(),
          })
          throw cause
        })
      }
    },
  }
}

const sentenceOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))

/** The hash of each chain's head at its last complete reading on this node. */
type ReadHeads = { read_heads: Map<string, string> }

async function watch(parts: Parts & ReadHeads, { chain, source }: WatchedChain): Promise<void> {
  const { db, clock, read_heads } = parts
  const now = clock.now()
  const cursor = await findCursor(db, chain.name)
  if (cursor?.audit_fault != null) throw new ChainFault(cursor.audit_fault)
  const isRecent =
    cursor?.fault === null && Math.abs(now.getTime() - cursor.scanned_at.getTime()) < READ_AGAIN_MS
  if (isRecent && (await source.head()).hash === read_heads.get(chain.name)) return
  read_heads.delete(chain.name)
  const reading = await readDeposits({ db, chain, source }, cursor)
  if (reading === null) return
  for (const findings of await findingsOf(parts, chain, reading)) {
    await settleDeposits(parts, chain, findings)
  }
  await advanceCursor(db, { ...reading, chain: chain.name, now })
  read_heads.set(chain.name, reading.head.hash)
}

/** By top-up: those with something on the chain, and those that had something pending before. */
async function findingsOf(parts: Parts, chain: Chain, reading: Reading): Promise<DepositUpdate[]> {
  const { deposits, finalized, kept } = reading
  const isFinal = ({ block_number }: OwnedDeposit) => block_number <= finalized.number
  const finals = await screenDeposits(parts, chain, deposits.filter(isFinal))
  const seen = deposits.filter((deposit) => !isFinal(deposit))
  const confirming = await findConfirming(parts.db, chain.name)
  const owners = new Map(
    [...finals, ...seen, ...confirming].map(({ account_id, topup_id }) => [topup_id, account_id]),
  )
  return [...owners].map(([topup_id, account_id]) => {
    const before = confirming.find((one) => one.topup_id === topup_id)?.pending ?? []
    const had = new Set(before.map(transferKey))
    return {
      account_id,
      topup_id,
      finals: finals.filter((deposit) => deposit.topup_id === topup_id),
      pending: {
        seen: seen.filter((deposit) => deposit.topup_id === topup_id),
        kept: kept.filter((one) => had.has(transferKey(one))),
      },
    }
  })
}

/**
 * The sender is asked about before the money moves and outside any transaction. Where the list
 * cannot be asked nothing is credited: the pass fails and the next one tries again.
 */
export async function screenDeposits(
  { db, screener }: Pick<Parts, 'db' | 'screener'>,
  chain: Chain,
  deposits: readonly OwnedDeposit[],
): Promise<ScreenedDeposit[]> {
  const txids = deposits.map(({ txid }) => txid)
  const recorded = await findRecordedKeys(db, chain.name, txids)
  const fresh = deposits.filter((deposit) => !recorded.has(transferKey(deposit)))
  const answers: ScreenedDeposit[] = []
  for (const deposit of fresh) {
    const screening = await screener.screen({
      chain: chain.name,
      address: chain.showAddress(deposit.from),
      direction: 'in',
      amount_micros: deposit.value,
    })
    answers.push({ ...deposit, screening })
  }
  return answers
}
