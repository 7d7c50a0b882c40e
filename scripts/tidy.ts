import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '#platform/runtime/root.ts'
import { CHECKSUMS_PATH, checksumsWith } from '#scripts/tidy/migrations.ts'
import { checkRules } from '#scripts/tidy/rules.ts'
import { formatViolation } from '#scripts/tidy/source.ts'
import { readTree } from '#scripts/tidy/tree.ts'

if (process.argv.includes('--record')) {
  const checksums = checksumsWith(readTree())
  writeFileSync(join(root, CHECKSUMS_PATH), `${JSON.stringify(checksums, null, 2)}\n`)
}

const violations = checkRules(readTree())
for (const violation of violations) console.log(formatViolation(violation))
if (violations.length > 0) process.exitCode = 1
