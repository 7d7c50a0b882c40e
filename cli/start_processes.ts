import { type RunningService, type ServiceOptions, startService } from '#main/start.ts'
import type { Settings } from '#settings/settings.ts'

const WORKER = new URL('./worker_process.js', import.meta.url)

/** Starts the service in one process, or in a parent with its workers. */
export async function startProcesses(
  settings: Settings,
  options: Pick<ServiceOptions, 'surfaces' | 'dependencies'>,
): Promise<RunningService> {
  if (settings.workers === 1) return startService(settings, options)
  const { startParent } = await import('#main/workers/start_parent.ts')
  const is_log_in_file = options.dependencies?.log !== undefined
  return startParent(settings, { ...options, script: WORKER, is_log_in_file })
}
