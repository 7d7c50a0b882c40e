// Installs the packages that only tests, benches and static checks use, unless they are installed
// already, and runs a program of theirs: node scripts/test_packages.js [PROGRAM …].
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'test/packages')
const packages = join(folder, 'node_modules')
const STAMP = join(packages, '.installed')

export function installTestPackages() {
  const lock = createHash('sha256').update(readFileSync(join(folder, 'package-lock.json')))
  const wanted = lock.digest('hex')
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return
  process.stderr.write('Installing the packages of tests into test/packages…\n')
  const shell = process.platform === 'win32'
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell,
  })
  if (status !== 0) throw new Error('npm ci failed in test/packages.')
  writeFileSync(STAMP, wanted)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  installTestPackages()
  const [program, ...words] = process.argv.slice(2)
  if (program !== undefined) {
    const { status } = spawnSync(join(packages, '.bin', program), words, {
      cwd: root,
      stdio: 'inherit',
      shell: process.platform === 'win32',
    })
    process.exitCode = status ?? 1
  }
}
