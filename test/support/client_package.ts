import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleClient } from '#scripts/client_package/bundle.ts'

/** Installs `@florin/client` without its types for programs in this folder. */
export async function installClient(folder: string): Promise<void> {
  const place = join(folder, 'node_modules/@florin/client')
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'package.json'), '{"type": "module", "exports": "./client.js"}')
  await bundleClient(join(place, 'client.js'))
}
