import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { TestContext } from 'node:test'

/** Programs and libraries that tests use but `npm install` doesn't install, with their source. */
const SOURCES = {
  bun: 'npm install bun, or BUN_PATH',
  chromium: 'apt-get install chromium, or CHROME_PATH',
  curl: 'apt-get install curl',
  deno: 'npm install deno, or DENO_PATH',
  'libsofthsm2.so': 'apt-get install softhsm2',
  openssl: 'apt-get install openssl',
  pg_basebackup: 'apt-get install postgresql',
  pg_dump: 'apt-get install postgresql',
  pgbench: 'apt-get install postgresql',
  psql: 'apt-get install postgresql',
  'pkcs11-tool': 'apt-get install opensc',
  postgres: 'apt-get install postgresql',
  'redis-cli': 'apt-get install redis-tools',
  'redis-server': 'apt-get install redis-server',
  'requests for Python': 'apt-get install python3-requests',
  'softhsm2-util': 'apt-get install softhsm2',
}
export type Tool = keyof typeof SOURCES

/** Debian installs PostgreSQL's programs and PKCS#11 modules outside the PATH. */
function foldersBesidePath(): string[] {
  const postgres = '/usr/lib/postgresql'
  const versions = existsSync(postgres) ? readdirSync(postgres).sort().reverse() : []
  return [...versions.map((version) => join(postgres, version, 'bin')), '/usr/lib/softhsm']
}

function hasRequests(): boolean {
  try {
    execFileSync('python3', ['-c', 'import requests'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** The tool's path: from NAME_PATH, or the first one found on this machine. */
export function findTool(name: Tool): string | undefined {
  if (name === 'requests for Python') return hasRequests() ? name : undefined
  const named = process.env[`${name.toUpperCase().replaceAll(/\W/g, '_')}_PATH`]
  if (named !== undefined && named !== '') return named
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...foldersBesidePath()]
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
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
