import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmbeddedPostgres } from '#platform/embedded_postgres/embedded_postgres.ts'
import { root } from '#platform/runtime/root.ts'
import { prepareTemplate } from '#test/support/database.ts'
import { runWithin } from './test/budget.ts'
import { filesBelow } from './test/files_below.ts'
import { testRunner } from './test/runner.ts'
import { closingLines, type NotRun, slowestFiles } from './test/summary.ts'
import { inTemporaryFolder } from './test/temporary_folder.ts'

/**
 * The longest files are in `test`, so it comes first: short files then fill the end of a run. The
 * panel's come last, because they leave a document behind, which other code must not see.
 */
const FOLDERS = ['test', 'src', 'client', 'cli', 'sandbox', 'panel']

/** Long tests, suites that download software, and those on Citus run only on request. */
const SPECIAL = ['long', 'conformance', 'citus'] as const
type Kind = (typeof SPECIAL)[number] | undefined
const kindOf = (path: string): Kind => SPECIAL.find((kind) => path.endsWith(`.${kind}.test.ts`))

function testFiles(kind: Kind, fragments: readonly string[]): string[] {
  return FOLDERS.filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => filesBelow(folder).sort())
    .filter((path) => path.endsWith('.test.ts') && kindOf(path) === kind)
    .filter((path) => fragments.length === 0 || fragments.some((part) => path.includes(part)))
}

/** A run of few files prints all their tests. */
const VERBOSE_FILES_MAX = 20
const CI = process.env['CI'] === 'true'

/** A complete `npm test` lists the files that only other commands run. */
const filesOfOtherRuns = (): NotRun[] =>
  SPECIAL.map((kind) => ({ reason: `npm run test:${kind}`, files: testFiles(kind, []) }))

/** A quick test takes at most a minute, so a file that hangs is named early. */
const SHORT_SILENT_MAX_MS = 5 * 60_000

type Plan = {
  verbose: boolean
  files: readonly string[]
  minutes: number | undefined
  not_run: readonly NotRun[]
  silent_max_ms?: number
  forgives_late: boolean
}

const MEMORY_DISK = '/dev/shm'
const MEMORY_DISK_MIN = 4 * 1024 ** 3

/** Each file's database is 700 files, so a disk in memory saves a tenth of the run's CPU time. */
function databaseParent(): string {
  if (!existsSync(MEMORY_DISK)) return tmpdir()
  const { bavail, bsize } = statfsSync(MEMORY_DISK)
  return bavail * bsize >= MEMORY_DISK_MIN ? MEMORY_DISK : tmpdir()
}

/** Starts one database server for the whole run and deletes it afterwards. */
async function runTests(plan: Plan, env: NodeJS.ProcessEnv): Promise<number> {
  const { files, minutes } = plan
  const folder = mkdtempSync(join(databaseParent(), 'florin-test-'))
  const runner = testRunner(env, plan)
  process.on('SIGINT', runner.stop)
  process.on('SIGTERM', runner.stop)
  try {
    const postgres = await startEmbeddedPostgres({ data_dir: folder, durable: false })
    try {
      await prepareTemplate(postgres.url)
      const ran =
        minutes === undefined
          ? { ...(await runner.run(files, postgres.url)), not_run: plan.not_run }
          : await runWithin(minutes, files, runner, postgres.url)
      if (files.length > 1) {
        for (const failure of ran.failures) console.log(`\n${failure}`)
        console.log(`\nSlowest files:\n${slowestFiles(ran.tally).join('\n')}`)
      }
      const late = `too late while the host took CPU time: ${ran.not_judged.join(', ')}`
      const not_run = [...ran.not_run, { reason: late, files: ran.not_judged }]
      console.log(`\n${closingLines(ran.tally, not_run).join('\n')}`)
      return ran.code
    } finally {
      await postgres.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const { values, positionals: fragments } = parseArgs({
  allowPositionals: true,
  options: {
    long: { type: 'boolean' },
    conformance: { type: 'boolean' },
    citus: { type: 'boolean' },
    'budget-minutes': { type: 'string' },
    verbose: { type: 'boolean' },
  },
})
const kind: Kind = SPECIAL.find((each) => values[each] === true)
const budget = values['budget-minutes']
const files = testFiles(kind, fragments)

if (files.length === 0) {
  const what = kind === undefined ? 'test file' : `${kind} test file`
  const filter = fragments.length === 0 ? '' : ` whose path contains ${fragments.join(' or ')}`
  console.error(`There is no ${what}${filter}.`)
  process.exitCode = 1
} else if (budget !== undefined && !(Number(budget) > 0)) {
  console.error(`--budget-minutes must be a positive number (got "${budget}").`)
  process.exitCode = 1
} else {
  const is_whole = kind === undefined && fragments.length === 0
  const plan = {
    files,
    minutes: budget === undefined ? undefined : Number(budget),
    verbose: values.verbose === true || files.length <= VERBOSE_FILES_MAX || CI,
    not_run: is_whole ? filesOfOtherRuns() : [],
    // A budget means CI, on a machine that may be slow without saying so.
    forgives_late: budget !== undefined,
    ...(kind === undefined && { silent_max_ms: SHORT_SILENT_MAX_MS }),
  }
  process.exitCode = await inTemporaryFolder((env) => runTests(plan, env))
}
