import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { startEmbeddedPostgres } from '#platform/embedded_postgres.ts'
import { root } from '#platform/root.ts'
import { prepareTemplate } from '#test/support/database.ts'

const FOLDERS = ['src', 'test', 'client', 'cli', 'sandbox']
/** Files at a time: each has a process and a database of its own, and CI has two cores. */
const CONCURRENCY = 2

/** What takes long, and what downloads the suites that it runs, is asked for by name. */
const SPECIAL = ['long', 'conformance']
const kindOf = (path: string) => SPECIAL.find((kind) => path.endsWith(`.${kind}.test.ts`))

function testFiles(kind: string | undefined, fragments: readonly string[]): string[] {
  return FOLDERS.filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (path) => `${folder}/${path.split(sep).join('/')}`,
      ),
    )
    .filter((path) => path.endsWith('.test.ts') && kindOf(path) === kind)
    .filter((path) => fragments.length === 0 || fragments.some((part) => path.includes(part)))
    .sort()
}

/** Sources are chosen by their names, and run as built. */
const builtName = (path: string) => `dist/${path.replace(/\.ts$/, '.js')}`

/** How a shell says that a signal ended a process: 128 and its number; ours are 2 and 15. */
function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  if (code !== null) return code
  return signal === 'SIGINT' ? 130 : 143
}

type Runner = { stop: (signal: NodeJS.Signals) => void; run: (url: string) => Promise<number> }

/** A signal that comes before the tests have begun keeps them from beginning. */
function testRunner(files: readonly string[]): Runner {
  let child: ChildProcess | undefined
  let stopped: NodeJS.Signals | undefined
  const reporter = ['--test-reporter=spec', '--test-reporter-destination=stdout']
  const options = [
    '--enable-source-maps',
    '--test',
    `--test-concurrency=${CONCURRENCY}`,
    ...reporter,
  ]
  return {
    stop: (signal) => {
      stopped = signal
      child?.kill(signal)
    },
    run: (url) =>
      new Promise((resolve, reject) => {
        if (stopped !== undefined) return resolve(exitCodeOf(null, stopped))
        child = spawn(process.execPath, [...options, ...files.map(builtName)], {
          cwd: root,
          stdio: 'inherit',
          env: { ...process.env, FLORIN_TEST_DATABASE_URL: url },
        })
        child.once('error', reject)
        child.once('exit', (code, signal) => resolve(exitCodeOf(code, signal)))
      }),
  }
}

/** One database server for the whole run, thrown away with its folder however the run ends. */
async function runTests(files: readonly string[]): Promise<number> {
  const runner = testRunner(files)
  process.on('SIGINT', runner.stop)
  process.on('SIGTERM', runner.stop)
  const folder = mkdtempSync(join(tmpdir(), 'florin-test-'))
  try {
    const postgres = await startEmbeddedPostgres({ data_dir: folder, durable: false })
    try {
      await prepareTemplate(postgres.url)
      return await runner.run(postgres.url)
    } finally {
      await postgres.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const words = process.argv.slice(2)
const special = SPECIAL.find((kind) => words.includes(`--${kind}`))
const fragments = words.filter((word) => !word.startsWith('--'))
const files = testFiles(special, fragments)

if (files.length === 0) {
  const kind = special === undefined ? 'test file' : `${special} test file`
  const wanted = fragments.length === 0 ? '' : ` whose path contains ${fragments.join(' or ')}`
  console.error(`There is no ${kind}${wanted}.`)
  process.exitCode = 1
} else {
  process.exitCode = await runTests(files)
}
