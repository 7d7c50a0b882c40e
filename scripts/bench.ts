import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '#platform/runtime/root.ts'

const folder = join(root, 'bench')

/** Each file directly in bench/ is a benchmark; shared code is in subfolders. */
function benchNames(): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => file.replace(/\.ts$/, ''))
    .sort()
}

/** Same as `npm start`. With a smaller semi-space, V8 copies the objects of open batches. */
const SEMI_SPACE = '--max-semi-space-size=32'

/** Runs one benchmark at a time, so they do not disturb each other; continues after a failure. */
function runBenches(names: readonly string[]): number {
  const failed = names.filter((name) => {
    console.log(`\n${name}`)
    const { status } = spawnSync(process.execPath, [SEMI_SPACE, `dist/bench/${name}.js`], {
      cwd: root,
      stdio: 'inherit',
    })
    return status !== 0
  })
  if (failed.length === 0) return 0
  console.error(`\nFailed or below target: ${failed.join(', ')}.`)
  return 1
}

const known = benchNames()
const args = process.argv.slice(2)
const requested = args.filter((word) => !word.startsWith('--'))
const unknown = requested.filter((name) => !known.includes(name))

if (args.includes('--list')) {
  for (const name of known) console.log(name)
} else if (unknown.length > 0 || known.length === 0) {
  console.error(
    `Unknown benchmark: ${unknown.join(', ') || 'none exist'} (allowed: ${known.join(', ')}).`,
  )
  process.exitCode = 1
} else {
  process.exitCode = runBenches(requested.length > 0 ? requested : known)
}
