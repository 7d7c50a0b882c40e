import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '#platform/root.ts'

const folder = join(root, 'bench')

/** A measurement is a file directly in bench; what they share lies in folders below it. */
function benchNames(): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => file.replace(/\.ts$/, ''))
    .sort()
}

/** As `npm start` has it: what a batch keeps while it commits is not copied again and again. */
const NURSERY = '--max-semi-space-size=32'

/** One after the other: two at once would measure each other. One that misses stops no other. */
function runBenches(names: readonly string[]): number {
  const missed = names.filter((name) => {
    console.log(`\n${name}`)
    const { status } = spawnSync(process.execPath, [NURSERY, `dist/bench/${name}.js`], {
      cwd: root,
      stdio: 'inherit',
    })
    return status !== 0
  })
  if (missed.length === 0) return 0
  console.error(`\nBelow target, or broken off: ${missed.join(', ')}.`)
  return 1
}

const known = benchNames()
const words = process.argv.slice(2)
const asked = words.filter((word) => !word.startsWith('--'))
const unknown = asked.filter((name) => !known.includes(name))

if (words.includes('--list')) {
  for (const name of known) console.log(name)
} else if (unknown.length > 0 || known.length === 0) {
  const missing = unknown.length > 0 ? `called ${unknown.join(' or ')}` : 'yet'
  console.error(`There is no bench ${missing}. Known: ${known.join(', ') || 'none'}.`)
  process.exitCode = 1
} else {
  process.exitCode = runBenches(asked.length > 0 ? asked : known)
}
