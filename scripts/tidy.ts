import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '#platform/root.ts'
import { CHECKSUMS_PATH, checksumsWith } from '#scripts/tidy/migrations.ts'
import { complaintsAbout } from '#scripts/tidy/rules.ts'
import { sentence } from '#scripts/tidy/source.ts'
import { readTree } from '#scripts/tidy/tree.ts'

if (process.argv.includes('--record')) {
  const checksums = checksumsWith(readTree())
  writeFileSync(join(root, CHECKSUMS_PATH), `${JSON.stringify(checksums, null, 2)}\n`)
}

const complaints = complaintsAbout(readTree())
for (const complaint of complaints) console.log(sentence(complaint))
if (complaints.length > 0) process.exitCode = 1
