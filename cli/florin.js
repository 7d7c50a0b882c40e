#!/usr/bin/env node
// The sources run as they are: tsx reads the TypeScript, and the command proper is in main.ts.
import { register } from 'tsx/esm/api'

register()
await import('./main.ts')
