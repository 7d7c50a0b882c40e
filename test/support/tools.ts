import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { TestContext } from 'node:test'

/** Programs and libraries that tests use but `npm install` doesn't install, with their source. */
const SOURCES = {
  bun: 'npm install bun, or BUN_PATH',
  chromium: 'apt-get install chromium, or CHROME_PATH',
  curl: 'apt-get install curl',
  deno: 'npm install deno, or DENO_PATH',
  docker: 'install Docker or Podman',
  etcd: 'apt-get install etcd-server',
  'fastapi for Python': 'apt-get install python3-fastapi, with python3-uvicorn',
  'flask for Python': 'apt-get install python3-flask',
  go: 'install Go; .ci/run does not, because it takes 461 MB',
  haproxy: 'apt-get install haproxy',
  'libsofthsm2.so': 'apt-get install softhsm2',
  openssl: 'apt-get install openssl',
  patroni: 'apt-get install patroni',
  patronictl: 'apt-get install patroni',
  pg_basebackup: 'apt-get install postgresql',
  pg_dump: 'apt-get install postgresql',
  pgbench: 'apt-get install postgresql',
  psql: 'apt-get install postgresql',
  pgbackrest: 'apt-get install pgbackrest',
  'pkcs11-tool': 'apt-get install opensc',
  podman: 'install Docker or Podman',
  postgres: 'apt-get install postgresql',
  promtool: 'apt-get install prometheus',
  'redis-cli': 'apt-get install redis-tools',
  'redis-server': 'apt-get install redis-server',
  'requests for Python': 'apt-get install python3-requests',
  script: 'apt-get install bsdutils',
  'softhsm2-util': 'apt-get install softhsm2',
  tmpfs: 'run as root, with the right to mount',
}
export type Tool = keyof typeof SOURCES

/** Debian installs PostgreSQL's programs and PKCS#11 modules outside the PATH. */
function foldersBesidePath(): string[] {
  const postgres = '/usr/lib/postgresql'
  const versions = existsSync(postgres) ? readdirSync(postgres).sort().reverse() : []
  return [
    ...versions.map((version) => join(postgres, version, 'bin')),
    '/usr/lib/softhsm',
    '/usr/sbin',
  ]
}

/** Python packages, by the modules that a test imports. */
const PYTHON_MODULES: Partial<Record<Tool, string>> = {
  'fastapi for Python': 'fastapi, uvicorn',
  'flask for Python': 'flask',
  'requests for Python': 'requests',
}

/** Debian's packages belong to its own Python, which is not always the first in the PATH. */
const PYTHONS = ['python3', '/usr/bin/python3']

function canImport(python: string, modules: string): boolean {
  try {
    execFileSync(python, ['-c', `import ${modules}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** True if this process may mount a file system. */
function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'florin_mount_'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', folder], { stdio: 'ignore' })
    execFileSync('umount', [folder], { stdio: 'ignore' })
    return true
  } catch {
    return false
  } finally {
    rmdirSync(folder)
  }
}

/** The tool's path, from NAME_PATH or on this machine; of a Python package, its Python. */
export function findTool(name: Tool): string | undefined {
  const modules = PYTHON_MODULES[name]
  if (modules !== undefined) return PYTHONS.find((python) => canImport(python, modules))
  if (name === 'tmpfs') return canMount() ? name : undefined
  const named = process.env[`${name.toUpperCase().replaceAll(/\W/g, '_')}_PATH`]
  if (named !== undefined && named !== '') return named
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...foldersBesidePath()]
  const path = folders.map((folder) => join(folder, name)).find((one) => existsSync(one))
  // Tests use the other programs of its folder, which a link to it may not have.
  return name === 'postgres' && path !== undefined ? realpathSync(path) : path
}

export const reasonWithout = (name: Tool): string => `${name} is not installed (${SOURCES[name]})`

/**
 * A missing tool skips the tests that need it, but with CI=true it is an error: whole areas went
 * untested while every run was green.
 */
export function refuseInCi(name: Tool): void {
  if (process.env['CI'] !== 'true') return
  throw new Error(`${reasonWithout(name)}, and with CI=true no test is skipped for a missing tool`)
}

/** For the options of a test: `{ skip: skipWithout('redis-server') }`. */
export function skipWithout(name: Tool): string | false {
  if (findTool(name) !== undefined) return false
  refuseInCi(name)
  return reasonWithout(name)
}

/** The tool's path. Without the tool `t` is skipped, and the test returns on undefined. */
export function requireTool(name: Tool, t: TestContext): string | undefined {
  const reason = skipWithout(name)
  if (reason !== false) t.skip(reason)
  return findTool(name)
}
