import { findDisallowed, licenceList } from './release/licences.ts'
import { shippedPackages } from './release/shipped.ts'

/** `npm run -s licences`: prints the licenses; fails if one is not on the allowlist. */
const packages = shippedPackages()
process.stdout.write(licenceList(packages))
for (const { name, licence } of findDisallowed(packages)) {
  process.stderr.write(`${name}: license ${licence} is not on the allowlist.\n`)
  process.exitCode = 1
}
