// node scripts/run.js NAME …: builds changed files and runs the built scripts/NAME.
import { build, buildPanel, buildPanelTests } from './build.js'

const [name] = process.argv.splice(2, 1)
await build()
if (name === 'test') {
  await buildPanel()
  await buildPanelTests()
}
await import(`../dist/scripts/${name}.js`)
