// What a package has to bring built: the service and the panel. Before `npm pack`, which does not
// run it by itself where scripts are off, as .npmrc has it here.
import { build, buildPanel } from './build.js'

await build()
await buildPanel()
