#!/usr/bin/env node
// In a checkout, what has changed is built first; an installed package brings it built.
import { existsSync } from 'node:fs'

const builder = new URL('../scripts/build.js', import.meta.url)
const main = new URL('../dist/cli/main.js', import.meta.url)
if (existsSync(builder)) {
  const { build, buildPanel } = await import(builder.href)
  await build()
  if (process.argv[2] === 'start') await buildPanel()
} else if (!existsSync(main)) {
  // npm was told to run no scripts when it packed, so that nothing was built.
  process.stderr.write(
    'This package of Florin was packed without being built, so there is nothing in it to run.\n' +
      'Where it was packed: npm run build && npm pack.\n',
  )
  process.exit(78)
}
await import(main.href)
