import { findDisallowed, licenseList } from './release/licenses.ts'
import { createSbom } from './release/sbom.ts'

/** `npm run -s licenses`: prints the licenses; fails if one is not on the allowlist. */
const sbom = createSbom()
process.stdout.write(licenseList(sbom))
for (const component of findDisallowed(sbom)) {
  process.stderr.write(`The license of ${component} is not on the allowlist.\n`)
  process.exitCode = 1
}
