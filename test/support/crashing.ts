import { startService } from '#main/start.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { readSettings } from '#settings/settings.ts'

/**
 * A service process that kills itself at the failpoint in CRASH_AT after its parent has armed it.
 */
let isArmed = false
process.on('message', (message) => {
  isArmed = message === 'arm'
  process.send?.('armed')
})

const running = await startService(readSettings(process.env), {
  dependencies: {
    log: silentLog,
    fail: (point) => {
      if (isArmed && point === process.env['CRASH_AT']) process.kill(process.pid, 'SIGKILL')
    },
  },
})
// Background tasks pass the same failpoints, and only the request under test may crash.
await running.tasks.stop()
process.send?.({ url: running.url })
