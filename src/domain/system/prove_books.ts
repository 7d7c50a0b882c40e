import type { Violation } from '#domain/context/proof.ts'
import type { Database } from '#platform/postgres/db.ts'
import {
  accountsAfter,
  accountsWithFindings,
  advanceCycle,
  changedAccounts,
  finishCycle,
  readCycle,
  recordRun,
  replaceFindings,
  saveProgress,
} from './proof_store.ts'
import { account_proof_names, program_proof_names, range_proof_names } from './proofs.ts'
import {
  type AccountProgress,
  fromTheStart,
  type ProofRun,
  proveAccounts,
} from './prove_accounts.ts'
import { type Figures, proveProgram, proveRange, proveWhole } from './prove_program.ts'

/** The accounts that are compared with their progress in one statement. */
const PAGE = 1_000
/** The accounts whose slices share statements: planning those takes 0.2 s (`bench -- large`). */
const BUNDLE = 250
/** Bundles that are proven at the same time if everything is: two connections, two cores. */
const AT_ONCE = 2
/** Runs in which a cycle over all accounts ends; hourly, so it takes less than a day. */
const RUNS_PER_CYCLE = 20
const CYCLE_ACCOUNTS_MIN = 20

export type BooksRun = { changed: number; cycled: number; violations: number }

type RunOptions = ProofRun & {
  /** False proves only what changed; for measurements. */
  has_cycle?: boolean
}

/**
 * Proves what changed since the last run, then the next part of a cycle over everything. It saves
 * its progress account by account, so a run that dies continues there. A violation that a continued
 * proof finds is recorded only if the whole account, read from its start, has it too.
 */
export async function proveChanges(
  db: Database,
  { now, check, has_cycle = true }: RunOptions,
): Promise<BooksRun> {
  const step = { db, now, check }
  const open = await accountsWithFindings(db, account_proof_names)
  const changed = await proveChangedAccounts(step)
  await proveFromTheStart(step, open)
  const cycled = has_cycle ? await continueCycle(step) : 0
  check()
  const found = await proveProgram(db, now)
  await replaceFindings(db, { proof_names: program_proof_names, accounts: null }, { found, now })
  await recordRun(db, now)
  return { changed, cycled, violations: found.length }
}

type Step = RunOptions & { db: Database }

async function proveChangedAccounts(step: Step): Promise<number> {
  let count = 0
  for (let after = ''; ; ) {
    const page = await accountsAfter(step.db, after, PAGE)
    const last = page.at(-1)
    if (last === undefined) return count
    const changed = await changedAccounts(step.db, page)
    for (const bundle of bundlesOf(changed)) await continueAccounts(step, bundle)
    count += changed.length
    after = last
  }
}

function bundlesOf<Item>(items: readonly Item[]): Item[][] {
  const bundles: Item[][] = []
  for (let at = 0; at < items.length; at += BUNDLE) bundles.push(items.slice(at, at + BUNDLE))
  return bundles
}

async function continueAccounts(step: Step, accounts: readonly AccountProgress[]): Promise<void> {
  const { db } = step
  const { progress, violations } = await proveAccounts(db, accounts, step)
  const suspects = new Set(violations.map(({ account_id }) => account_id))
  await saveProgress(
    db,
    progress.filter(({ account_id }) => !suspects.has(account_id)),
  )
  await proveFromTheStart(
    step,
    accounts.map(({ account_id }) => account_id).filter((id) => suspects.has(id)),
  )
}

/** Reads accounts from their first row: their findings are then exactly what is wrong. */
async function proveFromTheStart(step: Step, account_ids: readonly string[]): Promise<void> {
  const { db, now } = step
  for (const ids of bundlesOf(account_ids)) {
    const { progress, violations } = await proveAccounts(db, ids.map(fromTheStart), step)
    await db.transaction(async (tx) => {
      const examined = { proof_names: account_proof_names, accounts: { ids } }
      await replaceFindings(tx, examined, { found: violations, now })
      await saveProgress(tx, progress)
    })
  }
}

async function continueCycle(step: Step): Promise<number> {
  const { db, now } = step
  const cycle = await readCycle(db, now)
  const quota = Math.max(Math.ceil(Number(cycle.accounts) / RUNS_PER_CYCLE), CYCLE_ACCOUNTS_MIN)
  let after = cycle.after_account
  for (let cycled = 0; cycled < quota; ) {
    const page = await accountsAfter(db, after, Math.min(PAGE, quota - cycled))
    const through = page.at(-1) ?? 'z'
    await proveFromTheStart(step, page)
    const examined = { proof_names: range_proof_names, accounts: { after, through } }
    await replaceFindings(db, examined, { found: await proveRange(db, { after, through }), now })
    if (page.length === 0) {
      await finishCycle(db, now)
      return cycled
    }
    await advanceCycle(db, through)
    after = through
    cycled += page.length
  }
  return quota
}

export type BooksReport = { figures: Figures; violations: Violation[]; accounts: number }

/** Proves everything in one run, without reading or writing any progress. */
export async function proveEverything(
  db: Database,
  now: Date,
  onProgress: (accounts: number) => void = () => undefined,
): Promise<BooksReport> {
  const run = { now, check: () => undefined }
  const { figures, violations } = await proveWhole(db)
  violations.push(...(await proveProgram(db, now)))
  let accounts = 0
  for (let after = ''; ; ) {
    const page = await accountsAfter(db, after, PAGE)
    const through = page.at(-1) ?? 'z'
    violations.push(...(await proveRange(db, { after, through })))
    if (page.length === 0) return { figures, violations, accounts }
    const bundles = bundlesOf(page)
    for (let at = 0; at < bundles.length; at += AT_ONCE) {
      const some = bundles.slice(at, at + AT_ONCE)
      const proven = await Promise.all(
        some.map((ids) => proveAccounts(db, ids.map(fromTheStart), run)),
      )
      violations.push(...proven.flatMap((each) => each.violations))
      accounts += some.flat().length
      onProgress(accounts)
    }
    after = through
  }
}
