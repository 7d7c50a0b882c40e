import { startService } from '#main/start.ts'
import type { Failpoint } from '#platform/runtime/failpoints.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { sandboxControl } from '#sandbox/control.ts'
import { readSettings } from '#settings/settings.ts'

/**
 * A service process with background tasks that kills itself with SIGKILL at the given failpoint,
 * once SIGUSR2 has armed it.
 */
const [point] = process.argv.slice(2)
let isArmed = false
process.on('SIGUSR2', () => {
  isArmed = true
  process.stdout.write('armed\n')
})
const fail = (at: Failpoint) => {
  if (isArmed && at === point) process.kill(process.pid, 'SIGKILL')
}
const { url } = await startService(readSettings(process.env), {
  surfaces: [sandboxControl],
  dependencies: { log: silentLog, fail },
})
process.stdout.write(`${url}\n`)
