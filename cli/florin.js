#!/usr/bin/env node
// In a checkout, what has changed is built first; an installed package brings it built.
import { existsSync } from 'node:fs'

const builder = new URL('../scripts/build.js', import.meta.url)
if (existsSync(builder)) {
  const { build, buildPanel } = await import(builder.href)
  await build()
  if (process.argv[2] === 'start') await buildPanel()
}
await import(new URL('../dist/cli/main.js', import.meta.url).href)
