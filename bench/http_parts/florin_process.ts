import { startService } from '#main/start.ts'
import { readSettings } from '#settings/settings.ts'

const running = await startService(readSettings(process.env))
process.send?.({ url: running.url })
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({ cpu_us: user + system })
})
process.on('SIGTERM', () => void running.stop().then(() => process.exit(0)))
