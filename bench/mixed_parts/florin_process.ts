import { Session } from 'node:inspector/promises'
import { startService } from '#main/start.ts'
import { readSettings } from '#settings/settings.ts'
import { partsOf } from './profile.ts'

/** The service in a process of its own; it reports its CPU time and memory, and profiles itself. */
const running = await startService(readSettings(process.env))
const inspector = new Session()
inspector.connect()

const answers: Record<string, () => Promise<object>> = {
  cpu: async () => {
    const { user, system } = process.cpuUsage()
    return { cpu_us: user + system, rss_mb: process.memoryUsage.rss() / 2 ** 20 }
  },
  profile: async () => {
    await inspector.post('Profiler.enable')
    await inspector.post('Profiler.start')
    return {}
  },
  parts: async () => partsOf((await inspector.post('Profiler.stop')).profile),
}

process.on('message', async (name: string) => process.send?.(await answers[name]?.()))
process.on('SIGTERM', () => void running.stop().then(() => process.exit(0)))
process.send?.({ url: running.url, card_host_port: running.sandbox_host.card_host_port })
