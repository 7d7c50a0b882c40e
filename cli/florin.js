#!/usr/bin/env node
// A checkout is rebuilt first if its sources changed; an installed package ships its build.
import { existsSync } from 'node:fs'

const builder = new URL('../scripts/build.js', import.meta.url)
const main = new URL('../dist/cli/main.js', import.meta.url)
if (existsSync(builder)) {
  const { build } = await import(builder.href)
  await build('packages', 'code')
  if (process.argv[2] === 'start') await build('panel')
} else if (!existsSync(main)) {
  // `npm pack --ignore-scripts` skips the build.
  process.stderr.write(
    'This Florin package was packed without its build, so it cannot run.\n' +
      'Pack it again with: npm run build && npm pack\n',
  )
  process.exit(78)
}
await import(main.href)
