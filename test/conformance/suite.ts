import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { arch, platform, tmpdir } from 'node:os'
import { join } from 'node:path'

/** The suites want a newer Node than we do; npm carries one, so nothing has to be installed. */
const NODE_VERSION = '22.23.3'

/** An official conformance package. Each is fetched once, into its own folder. */
export type Suite = { package: string; version: string; program: string }

export const server_suite: Suite = {
  package: '@modelcontextprotocol/conformance',
  version: '0.1.16',
  program: 'dist/index.js',
}
export const authorization_suite: Suite = { ...server_suite, version: '0.2.0-alpha.12' }
export const inspector: Suite = {
  package: '@modelcontextprotocol/inspector',
  version: '2.12.0',
  program: '../../.bin/mcp-inspector',
}

/** `text` has both streams, in the order of arrival. */
export type Ran = { code: number; text: string; stdout: string }
type Options = { onText?: (text: string) => void; cwd?: string }

function run(command: string, args: readonly string[], options: Options = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args], { ...(options.cwd && { cwd: options.cwd }) })
    let text = ''
    let stdout = ''
    const hear = (chunk: Buffer) => {
      text += chunk
      options.onText?.(text)
    }
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk
      hear(chunk)
    })
    child.stderr.on('data', hear)
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? 1, text, stdout }))
  })
}

/** Fetches into a temporary folder and renames it, so an interrupted fetch is not used. */
async function fetched(packages: readonly string[]): Promise<string> {
  const name = packages.join('_').replaceAll(/[^\w.-]+/g, '-')
  const folder = join(tmpdir(), 'florin_conformance', name)
  if (existsSync(folder)) return folder
  mkdirSync(join(folder, '..'), { recursive: true })
  const aside = mkdtempSync(`${folder}.`)
  writeFileSync(join(aside, 'package.json'), '{}')
  const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages]
  const { code, text } = await run('npm', install, { cwd: aside })
  if (code !== 0) throw new Error(`npm could not fetch ${packages.join(', ')}: ${text}`)
  if (existsSync(folder)) rmSync(aside, { recursive: true })
  else renameSync(aside, folder)
  return folder
}

async function newerNode(): Promise<string> {
  const node = `node-${platform() === 'win32' ? 'win' : platform()}-${arch()}`
  const folder = await fetched([`${node}@${NODE_VERSION}`])
  return join(folder, 'node_modules', node, 'bin', 'node')
}

export async function runSuite(
  suite: Suite,
  args: readonly string[],
  options: Options = {},
): Promise<Ran> {
  const folder = await fetched([`${suite.package}@${suite.version}`])
  const program = join(folder, 'node_modules', suite.package, suite.program)
  return run(await newerNode(), [program, ...args], options)
}
