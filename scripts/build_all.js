// What a package has to bring built: the service and the panel. `npm pack` runs it by itself; where
// somebody's npm runs no scripts, `npm run build` comes first.
import { build, buildPanel } from './build.js'

await build()
await buildPanel()
