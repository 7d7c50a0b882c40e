import { sbomOf } from './release/sbom.ts'
import { shippedPackages } from './release/shipped.ts'

/** `npm run -s sbom`: the bill of materials, on standard output. */
process.stdout.write(`${JSON.stringify(sbomOf(shippedPackages()), null, 2)}\n`)
