import { createSbom } from './release/sbom.ts'

/** `npm run -s sbom`: prints the SBOM. */
process.stdout.write(`${JSON.stringify(createSbom(), null, 2)}\n`)
