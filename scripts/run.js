// node scripts/run.js NAME …: builds changed files and runs the built scripts/NAME.
import { build } from './build.js'

const [name] = process.argv.splice(2, 1)
await build('packages', 'code')
if (name === 'test') await build('panel')
await import(`../dist/scripts/${name}.js`)
