import { join } from 'node:path'
import { root } from '#platform/runtime/root.ts'
import { writeClientPackage } from './client_package/write_package.ts'

/** `npm run client`: writes the package @florin/client, ready for `npm pack`. */
const folder = join(root, 'dist/npm/client')
await writeClientPackage(folder)
process.stdout.write(`${folder}\n`)
