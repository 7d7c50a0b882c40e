import { startService } from '#main/start.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { sandboxControl } from '#sandbox/control.ts'
import { readSettings } from '#settings/settings.ts'
import { usedThreadMs } from './loop_probe.ts'

/** A service process that measures the longest turn of its event loop. */
const TICK_MS = 2

let last = usedThreadMs()
let worst_ms = 0
setInterval(() => {
  const now = usedThreadMs()
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
