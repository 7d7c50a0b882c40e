import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { root } from '#platform/runtime/root.ts'

type CommandResult = { code: number | null; output: string }

/** Runs a program on the repository. */
export const runTool = (name: string, ...words: readonly string[]): Promise<CommandResult> =>
  runToolIn(root, name, ...words)

export function runToolIn(
  cwd: string,
  name: string,
  ...words: readonly string[]
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(programPath(name), words, { cwd })
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += String(chunk)
    })
    child.stderr.on('data', (chunk) => {
      output += String(chunk)
    })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, output }))
  })
}

/** The compiler and the linter are in node_modules, everything else in test/packages. */
function programPath(name: string): string {
  const path = join(root, 'node_modules/.bin', name)
  return existsSync(path) ? path : join(root, 'test/packages/node_modules/.bin', name)
}

/** Writes files into a temporary folder that tools can check like the repository. */
export function plantFiles(
  t: TestContext,
  files: Readonly<Record<string, readonly string[]>>,
): string {
  const folder = mkdtempSync(join(tmpdir(), 'florin-house-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['package.json', 'biome.json'])
    copyFileSync(join(root, name), join(folder, name))
  for (const [path, lines] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), `${lines.join('\n')}\n`)
  }
  return folder
}
