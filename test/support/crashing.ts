import { startService } from '#main/start.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { readSettings } from '#settings/settings.ts'

/**
 * The service in a process of its own, which ends itself without a goodbye at the failpoint that
 * CRASH_AT names, once its parent has told it to.
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
// Background work passes the same failpoints, and only the request in question shall be killed.
await running.tasks.stop()
process.send?.({ url: running.url })
