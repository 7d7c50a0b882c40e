import { readFileSync } from 'node:fs'
import { startService } from '#main/start.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { sandboxControl } from '#sandbox/control.ts'
import { readSettings } from '#settings/settings.ts'

/**
 * A service process that measures the longest turn of its event loop, in CPU time of the main
 * thread, so other programs on a busy machine don't count.
 */
const TICK_MS = 2
const schedstat = `/proc/${process.pid}/task/${process.pid}/schedstat`
const usedMs = () => Number(readFileSync(schedstat, 'utf8').split(' ', 1)[0]) / 1_000_000

let last = usedMs()
let worst_ms = 0
setInterval(() => {
  const now = usedMs()
  worst_ms = Math.max(worst_ms, now - last)
  last = now
}, TICK_MS)

const { url } = await startService(readSettings(process.env), {
  surfaces: [sandboxControl],
  dependencies: { log: silentLog },
})
process.on('message', () => {
  process.send?.({ worst_ms })
  worst_ms = 0
})
process.on('disconnect', () => process.exit(0))
process.send?.({ url })
