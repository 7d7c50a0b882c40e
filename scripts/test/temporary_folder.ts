import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Runs work with its own TMPDIR and deletes it afterwards. Tests that fail or are killed leave
 * files behind, key files included; none of them outlives the run.
 */
export async function inTemporaryFolder<Value>(
  work: (env: NodeJS.ProcessEnv) => Promise<Value>,
): Promise<Value> {
  const folder = mkdtempSync(join(tmpdir(), 'florin-tmp-'))
  // A server that runs as another user must be able to traverse it.
  chmodSync(folder, 0o711)
  try {
    return await work({ ...process.env, TMPDIR: folder, TEMP: folder, TMP: folder })
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
