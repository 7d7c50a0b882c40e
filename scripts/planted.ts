import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { startEmbeddedPostgres } from '#platform/embedded_postgres/embedded_postgres.ts'
import { root } from '#platform/runtime/root.ts'
import { planted_bugs } from '#test/planted/bugs.ts'
import type { PlantedBug } from '#test/planted/planted_bug.ts'
import { prepareTemplate } from '#test/support/database.ts'
import { applyEdit, NotApplied, unfitEdits } from './planted/edit.ts'
import { runTests, type TestRun } from './planted/run_tests.ts'
import { inScratchTree } from './planted/scratch_tree.ts'
import { lineOf, summaryOf, type Verdict, verdictOf } from './planted/verdict.ts'
import { inTemporaryFolder } from './test/temporary_folder.ts'

const WITHIN_MS = 60_000

type Build = { writeSources(paths: readonly string[]): Promise<readonly string[]> }

/** Runs test files of the scratch tree. */
type Run = (files: readonly string[], within_ms: number) => Promise<TestRun>

/** Applies one edit, builds its file, runs the tests and restores the file. */
async function tryBug(folder: string, bug: PlantedBug, run: Run): Promise<Verdict> {
  const builder = pathToFileURL(join(folder, 'scripts/build.js')).href
  const { writeSources } = (await import(builder)) as Build
  let restore: () => void
  try {
    restore = applyEdit(folder, bug)
  } catch (cause) {
    if (!(cause instanceof NotApplied)) throw cause
    return { name: bug.name, result: 'not applied', seconds: 0, detail: cause.message }
  }
  try {
    await writeSources([bug.file])
    return verdictOf(bug.name, await run(bug.tests, WITHIN_MS))
  } finally {
    restore()
    await writeSources([bug.file])
  }
}

/** A test that fails without a bug proves nothing with one. */
async function areTestsGreen(bugs: readonly PlantedBug[], run: Run): Promise<boolean> {
  const files = [...new Set(bugs.flatMap(({ tests }) => tests))]
  console.log(`Running the ${files.length} test files without a bug first`)
  const { code, failed, output } = await run(files, files.length * WITHIN_MS)
  if (code === 0) return true
  console.error(`A test fails without a bug: ${failed ?? 'none by name'}\n${output}`)
  return false
}

async function tryBugs(folder: string, bugs: readonly PlantedBug[], run: Run): Promise<number> {
  if (!(await areTestsGreen(bugs, run))) return 1
  const verdicts: Verdict[] = []
  for (const bug of bugs) {
    const verdict = await tryBug(folder, bug, run)
    if (stopped.signal.aborted) return 130
    verdicts.push(verdict)
    console.log(`${verdicts.length}/${bugs.length} ${lineOf(verdict)}`)
  }
  const { lines, code } = summaryOf(verdicts)
  console.log(`\n${lines.join('\n')}`)
  return code
}

/** One database server for the whole run. */
async function withDatabase(env: NodeJS.ProcessEnv, work: (url: string) => Promise<number>) {
  const data_dir = mkdtempSync(join(env['TMPDIR'] ?? '', 'florin-postgres-'))
  const postgres = await startEmbeddedPostgres({ data_dir, durable: false })
  try {
    await prepareTemplate(postgres.url)
    return await work(postgres.url)
  } finally {
    await postgres.stop()
    rmSync(data_dir, { recursive: true, force: true })
  }
}

const stopped = new AbortController()
process.once('SIGINT', () => stopped.abort())
process.once('SIGTERM', () => stopped.abort())

const plantAll = (bugs: readonly PlantedBug[]): Promise<number> =>
  inTemporaryFolder((env) =>
    withDatabase(env, (url) =>
      inScratchTree((folder) =>
        tryBugs(folder, bugs, (files, within_ms) => {
          const test_env = { ...env, FLORIN_TEST_DATABASE_URL: url }
          return runTests(folder, { files, env: test_env, within_ms, stopped: stopped.signal })
        }),
      ),
    ),
  )

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean' } },
})
const bugs = planted_bugs.filter(({ name }) => names.length === 0 || names.includes(name))
const unknown = names.filter((name) => !bugs.some((bug) => bug.name === name))
const refusals =
  unknown.length > 0
    ? unknown.map((name) => `${name}: there is no planted bug of this name`)
    : unfitEdits(root, bugs)

if (refusals.length > 0) {
  console.error(refusals.join('\n'))
  process.exitCode = 1
} else if (values.check === true) {
  console.log(`${bugs.length} planted bugs fit the sources`)
} else {
  process.exitCode = await plantAll(bugs)
}
