import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startService } from '#main/start.ts'
import { silentLog } from '#platform/runtime/log.ts'
import { readSettings } from '#settings/settings.ts'

/** Runs the service in a separate process that reports its CPU time. */
const data_dir = await mkdtemp(join(tmpdir(), 'florin_bench_'))
const settings = readSettings({
  FLORIN_PORT: '0',
  FLORIN_RATE_PROFILE: 'off',
  FLORIN_DATA_DIR: data_dir,
})
const running = await startService(settings, { dependencies: { log: silentLog } })

process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({ cpu_us: user + system })
})
process.on('disconnect', async () => {
  await running.stop()
  await rm(data_dir, { recursive: true, force: true })
  process.exit(0)
})
process.send?.({ url: running.url })
