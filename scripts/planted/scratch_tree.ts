import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { root } from '#platform/runtime/root.ts'

const LEFT_OUT = new Set(['.git', 'node_modules'])
const TEST_PACKAGES = 'test/packages/node_modules'

/**
 * Runs work on a copy of the working tree and its build, so that no edit reaches the real one.
 * Packages are shared.
 */
export async function inScratchTree<Value>(work: (folder: string) => Promise<Value>) {
  const folder = mkdtempSync(join(tmpdir(), 'florin-planted-'))
  try {
    for (const name of readdirSync(root).filter((each) => !LEFT_OUT.has(each))) {
      cpSync(join(root, name), join(folder, name), {
        recursive: true,
        preserveTimestamps: true,
        filter: (path) => basename(path) !== 'node_modules',
      })
    }
    for (const place of [TEST_PACKAGES, `dist/${TEST_PACKAGES}`]) {
      symlinkSync(join(root, TEST_PACKAGES), join(folder, place), 'junction')
    }
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
