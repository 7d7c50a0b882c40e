import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApiDocument } from '#doors/site/openapi.ts'
import { root } from '#platform/runtime/root.ts'

/**
 * Writes the committed OpenAPI description for the default URL. It reads no settings, so the same
 * sources give the same file on every machine.
 */
const document = openApiDocument({ public_url: process.argv[2] ?? 'http://127.0.0.1:8080' })
const file = join(root, 'openapi.json')
writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`)
