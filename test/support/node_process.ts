import { startService } from '#main/start.ts'
import manifest from '#package.json' with { type: 'json' }
import { silentLog } from '#platform/runtime/log.ts'
import { readSettings } from '#settings/settings.ts'

/** A node in its own process, with its tasks; the message "stop" stops it like SIGTERM would. */
const running = await startService(readSettings(process.env), { dependencies: { log: silentLog } })
process.on('message', (message) => {
  if (message === 'stop') void running.stop().then(() => process.exit(0))
})
process.on('disconnect', () => process.exit(0))
const { card_host_port } = running.sandbox_host
process.send?.({ url: running.url, card_host_port, version: manifest.version })
