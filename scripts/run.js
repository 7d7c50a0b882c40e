// node scripts/run.js NAME …: builds changed files and runs the built scripts/NAME.
import { build } from './build.js'
import { installTestPackages } from './test_packages.js'

const USES_TEST_PACKAGES = ['bench', 'planted', 'test']

const [name] = process.argv.splice(2, 1)
if (USES_TEST_PACKAGES.includes(name ?? '')) installTestPackages()
await build('packages', 'code')
if (name === 'test') await build('panel')
await import(`../dist/scripts/${name}.js`)
