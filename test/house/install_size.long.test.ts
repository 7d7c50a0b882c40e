import assert from 'node:assert/strict'
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '#platform/runtime/root.ts'

const PACKAGES_MAX_MB = 400
const TEST_PACKAGES_MAX_MB = 400
/** Made by tools after the installation. */
const CACHES = new Set(['.cache', '.vite', '.vite-temp'])

/** Blocks on disk, as `du` counts them. */
function bytesIn(folder: string): number {
  let bytes = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (CACHES.has(entry.name)) continue
    const path = join(folder, entry.name)
    bytes += lstatSync(path).blocks * 512
    if (entry.isDirectory()) bytes += bytesIn(path)
  }
  return bytes
}

for (const [folder, max_mb] of [
  ['node_modules', PACKAGES_MAX_MB],
  ['test/packages/node_modules', TEST_PACKAGES_MAX_MB],
] as const) {
  test(`${folder} has at most ${max_mb} MB`, (t) => {
    const mb = bytesIn(join(root, folder)) / 2 ** 20
    t.diagnostic(`${mb.toFixed(0)} MB`)
    assert(mb <= max_mb, `${folder} has ${mb.toFixed(0)} MB; du -m shows the largest packages.`)
  })
}
