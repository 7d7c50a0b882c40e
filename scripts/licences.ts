import { licenceList, unallowed } from './release/licences.ts'
import { shippedPackages } from './release/shipped.ts'

/** `npm run -s licences`: the list on standard output; it fails where one needs a decision. */
const packages = shippedPackages()
process.stdout.write(licenceList(packages))
for (const { name, licence } of unallowed(packages)) {
  process.stderr.write(`${name}: ${licence} is not a licence that was agreed to.\n`)
  process.exitCode = 1
}
