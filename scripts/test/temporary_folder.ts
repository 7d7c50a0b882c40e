import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Gives work an environment whose temporary folder is its own and goes with it. A test that fails
 * or is killed leaves its folder behind, key files included; this way none outlasts the run.
 */
export async function inTemporaryFolder<Value>(
  work: (env: NodeJS.ProcessEnv) => Promise<Value>,
): Promise<Value> {
  const folder = mkdtempSync(join(tmpdir(), 'florin-tmp-'))
  // Like the system's: a server that runs as another user must be able to pass.
  chmodSync(folder, 0o711)
  try {
    return await work({ ...process.env, TMPDIR: folder, TEMP: folder, TMP: folder })
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
