import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '#platform/runtime/root.ts'
import { startAgentService } from '#test/support/agent.ts'
import { installClient } from '#test/support/client_package.ts'
import { built_cli, temporaryFolder } from '#test/support/florin_process.ts'
import { OPERATOR_TOKEN } from '#test/support/operator.ts'
import { createKey, openAccount } from '#test/support/people.ts'

/** The sh blocks of a page form one script. The text after `#=>` is the expected output. */
function scriptOf(source: string): string {
  return [...source.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block).join('\n')
}

const promisedBy = (script: string) =>
  [...script.matchAll(/#=> (.+)$/gm)].map(([, promised = '']) => promised.trim())

/** Puts `florin` on the PATH, as an installation would. */
function withFlorin(folder: string): string {
  const path = join(folder, 'bin', 'florin')
  mkdirSync(join(folder, 'bin'))
  writeFileSync(path, `#!/bin/sh\nexec "${process.execPath}" "${built_cli}" "$@"\n`)
  chmodSync(path, 0o755)
  return join(folder, 'bin')
}

const PAGE_MS_MAX = 120_000

async function run(script: string, env: Record<string, string>, cwd: string) {
  // A process group, so that background processes of a page end with it. Without standard input:
  // if that is a socket, as Node's pipes are, bash reads the start-up files of its user.
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const end = () => process.kill(-(child.pid ?? 0), 'SIGKILL')
  const timer = setTimeout(end, PAGE_MS_MAX)
  let output = ''
  let errors = ''
  child.stdout.on('data', (chunk) => {
    output += String(chunk)
  })
  child.stderr.on('data', (chunk) => {
    errors += String(chunk)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  clearTimeout(timer)
  return { code, output, errors }
}

/** Programs in a page that use the client. */
const programsIn = (source: string) =>
  [...source.matchAll(/^```[jt]s\n(.*?)^```$/gms)]
    .map(([, program = '']) => program)
    .filter((program) => program.includes('createClient('))

/** Pages that change shared state (clock, kill switches, keys) get their own service. */
const disturbs = (script: string) => /clock\/advance|kill_switches|florin keys/.test(script)

const common = await startAgentService()

const guides = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
const pages = ['README.md', ...guides.map((name) => `docs/${name}`)]

for (const page of pages) {
  const source = readFileSync(join(root, page), 'utf8')
  const script = scriptOf(source)
  if (script === '') continue

  test(`${page}: all commands run and print the expected output`, async () => {
    const { url, database_url, data_dir } = disturbs(script) ? await startAgentService() : common
    const { bearer } = await openAccount(url)
    const { key } = await createKey(url, bearer)
    const folder = await temporaryFolder()
    const env = {
      PATH: `${withFlorin(folder.path)}:${process.env['PATH']}`,
      HOME: folder.path,
      FLORIN_URL: url,
      FLORIN_KEY: key,
      FLORIN_OPERATOR_TOKEN: OPERATOR_TOKEN,
      FLORIN_DATABASE_URL: database_url,
      FLORIN_DATA_DIR: data_dir,
    }
    await installClient(folder.path)
    const { code, output, errors } = await run(script, env, folder.path)
    for (const program of programsIn(source)) {
      writeFileSync(join(folder.path, 'program.mjs'), program)
      const ended = await run('node program.mjs', env, folder.path)
      assert.equal(ended.code, 0, ended.errors)
    }
    await folder.remove()
    assert.equal(code, 0, `exit code ${code}:\n${errors}\n${output}`)
    let rest = output.split('\n')
    for (const promised of promisedBy(script)) {
      const at = rest.findIndex((line) => line.trim() === promised)
      assert.ok(at >= 0, `expected output ${promised} is missing or out of order:\n${output}`)
      rest = rest.slice(at + 1)
    }
  })
}
