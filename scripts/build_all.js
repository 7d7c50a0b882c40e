// Builds the service and the panel for the package. `npm pack` runs this as its prepack script.
import { build, buildPanel } from './build.js'

await build()
await buildPanel()
