import { findDisallowed, licenceList } from './release/licences.ts'
import { createSbom } from './release/sbom.ts'

/** `npm run -s licences`: prints the licenses; fails if one is not on the allowlist. */
const sbom = createSbom()
process.stdout.write(licenceList(sbom))
for (const component of findDisallowed(sbom)) {
  process.stderr.write(`The license of ${component} is not on the allowlist.\n`)
  process.exitCode = 1
}
