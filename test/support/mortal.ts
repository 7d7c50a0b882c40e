import { existsSync, readFileSync } from 'node:fs'
import { Secret } from '#kernel/secret.ts'
import { startSignerRole } from '#main/signer.ts'
import { startService } from '#main/start.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { readSettings } from '#settings/settings.ts'

/** A process with a service and its signer that kills itself at the failpoint in CRASH_AT. */
const settings = readSettings(process.env)
const crash_at = process.env['CRASH_AT'] ?? ''
const phrase = new Secret(readFileSync(process.env['SEED_FILE'] ?? '', 'utf8').trim())

await startSignerRole(settings, phrase, { create: !existsSync(settings.signer_mark_file) })
await startService(settings, {
  dependencies: {
    log: silentLog,
    fail: (point) => {
      if (point === crash_at) process.kill(process.pid, 'SIGKILL')
    },
  },
})
