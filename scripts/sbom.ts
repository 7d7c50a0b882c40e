import { createSbom } from './release/sbom.ts'
import { shippedPackages } from './release/shipped.ts'

/** `npm run -s sbom`: prints the SBOM. */
process.stdout.write(`${JSON.stringify(createSbom(shippedPackages()), null, 2)}\n`)
