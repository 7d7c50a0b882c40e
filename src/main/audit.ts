import type { Violation } from '#domain/context/proof.ts'
import { mailFindings } from '#domain/system/mail_findings.ts'
import { countFindings, findLastRun, replaceFindings } from '#domain/system/proof_store.ts'
import { proof_names } from '#domain/system/proofs.ts'
import { type BooksReport, proveChanges, proveEverything } from '#domain/system/prove_books.ts'
import { type ChainDifference, compareCustody } from '#domain/withdrawals/compare_custody.ts'
import { nodeFetch } from '#platform/http_client/node_fetch.ts'
import type { Database, Tx } from '#platform/postgres/db.ts'
import { onOneNode } from '#platform/postgres/one_node.ts'
import { type Clock, systemClock } from '#platform/runtime/clock.ts'
import type { Log } from '#platform/runtime/log.ts'
import type { Metrics } from '#platform/runtime/metrics.ts'
import type { Random } from '#platform/runtime/random.ts'
import type { Task } from '#platform/runtime/tasks.ts'
import type { Settings } from '#settings/settings.ts'

export { type AuditHead, changedHeads, readAuditHeads } from '#domain/audit/audit_heads.ts'
export { type AuditReport, verifyAudit } from '#domain/audit/verify_audit.ts'
export type { BooksReport, ChainDifference }

/** Proves everything in one run. */
export function proveBooks(
  db: Database,
  now: Date = systemClock().now(),
  onProgress?: (accounts: number) => void,
): Promise<BooksReport> {
  return proveEverything(db, now, onProgress)
}

const NODE_TIMEOUT_MS = 10_000

/** Compares the books with the coins on chain. A chain that doesn't respond is not a violation. */
export async function proveCustody(
  dbs: readonly Tx[],
  settings: Settings,
): Promise<ChainDifference[]> {
  return compareCustody({ dbs, settings }, nodeFetch(NODE_TIMEOUT_MS))
}

const CUSTODY = 'custody covers customer balances'

const custodyViolations = (custody: readonly ChainDifference[]): Violation[] =>
  custody
    .filter(({ is_short }) => is_short)
    .map(({ chain, asset, difference_usd }) => ({
      proof: CUSTODY,
      account_id: null,
      id: `${chain}/${asset}`,
      sentence: `${asset} on ${chain} is short of the books: the difference is $${difference_usd}.`,
    }))

const HOUR_MS = 60 * 60_000
const MINUTE_MS = 60_000

type AuditDependencies = {
  db: Database
  log: Log
  settings: Settings
  clock: Clock
  random: Random
  metrics: Metrics
  cellDatabases(): readonly Tx[]
}

/** The last findings of each cell: the metrics are their sum and the oldest run. */
export type KnownFindings = Map<
  number,
  { counts: ReadonlyMap<string, number>; proven_at_s: number }
>

/** The proofs that fail now, as this node last read them. */
export type Findings = {
  /** Proves the books. */
  task: Task
  /** Every process reads the findings. */
  read_task: Task
  /** For the service's health; null while every proof holds. */
  fault(): string | null
}

/**
 * Proves the books every hour on one node: what changed since the last run and the next part of a
 * cycle over everything. Every node reads the findings each minute, for its health and metrics.
 */
export function watchBooks(
  dependencies: AuditDependencies,
  known: KnownFindings = new Map(),
): Findings {
  const { db, metrics, settings } = dependencies
  let failing: readonly string[] = []
  const read = async () => {
    const counts = await countFindings(db)
    const proven_at_s = ((await findLastRun(db))?.getTime() ?? 0) / 1_000
    known.set(settings.cell, { counts, proven_at_s })
    const all = [...known.values()]
    for (const proof of [...proof_names, CUSTODY]) {
      const sum = all.reduce((total, one) => total + (one.counts.get(proof) ?? 0), 0)
      metrics.proof_findings.set({ proof }, sum)
    }
    metrics.books_proven_at.set(Math.min(...all.map((one) => one.proven_at_s)))
    failing = [...counts.keys()]
  }
  return {
    task: proveBooksTask(dependencies, read),
    read_task: { name: 'read_findings', every_ms: MINUTE_MS, at_start: true, run: read },
    fault: () =>
      failing.length === 0 ? null : `A proof of the books fails: ${failing.join('; ')}.`,
  }
}

function proveBooksTask(dependencies: AuditDependencies, read: () => Promise<void>): Task {
  const { db, settings, clock, log, cellDatabases } = dependencies
  // A cell that is down must not keep the findings of the others from the operator.
  const compareOrReport = async () => {
    try {
      return await proveCustody(cellDatabases(), settings)
    } catch (cause) {
      log.error('custody could not be compared', {}, cause)
      return null
    }
  }
  const schedule = { task: 'prove_books', every_ms: HOUR_MS }
  return {
    name: schedule.task,
    every_ms: schedule.every_ms,
    skips_advances: true,
    run: onOneNode(dependencies, schedule, async ({ check }) => {
      const now = clock.now()
      const proven = await proveChanges(db, { now, check })
      const custody = await compareOrReport()
      if (custody !== null) {
        const found = custodyViolations(custody)
        await replaceFindings(db, { proof_names: [CUSTODY], accounts: null }, { found, now })
      }
      await mailFindings(dependencies, now)
      await read()
      const fields = { ...proven, ...logFields(custody ?? []) }
      const counts = await countFindings(db)
      if (counts.size === 0) return log.info('the books are sound', fields)
      throw new Error(`the books are not sound: ${JSON.stringify([...counts])}`)
    }),
  }
}

/** The differences by chain and asset. */
const logFields = (custody: readonly ChainDifference[]): Record<string, number | string> =>
  Object.fromEntries(
    custody.map(({ chain, asset, difference_usd, fault }) => [
      `${chain}_${asset}_difference_usd`,
      difference_usd ?? `unknown: ${fault}`,
    ]),
  )
