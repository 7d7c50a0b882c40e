import type { RunningService } from '#main/start.ts'
import type { Clock } from '#platform/runtime/clock.ts'
import type { Log } from '#platform/runtime/log.ts'
import { sandboxControl } from '#sandbox/control.ts'
import { startSandbox } from '#sandbox/sandbox.ts'
import { signerInChildProcess } from '#sandbox/signer_in_child_process.ts'
import type { Settings } from '#settings/settings.ts'
import { claimDatabase } from './claim_database.ts'
import { startProcesses } from './start_processes.ts'

type StartDependencies = { clock: Clock; log?: Log }

/** Starts the service with a simulated chain, card network and signer. */
export async function startSandboxService(
  settings: Settings,
  dependencies: StartDependencies,
): Promise<RunningService> {
  // The embedded database belongs to its data directory, which is checked before.
  if (settings.database_url === null) return startOn(settings, dependencies)
  const release = await claimDatabase(settings.database_url.open())
  try {
    const service = await startOn(settings, dependencies)
    return { ...service, stop: () => service.stop().then(release) }
  } catch (cause) {
    await release()
    throw cause
  }
}

async function startOn(
  settings: Settings,
  dependencies: StartDependencies,
): Promise<RunningService> {
  const { clock } = dependencies
  const now_ms = () => clock.now().getTime()
  const sandbox = await startSandbox({
    settings,
    now_ms,
    wall_ms: () => clock.wall().getTime(),
    every: clock.every,
    startSigner: signerInChildProcess({ now_ms, every: clock.every }),
  })
  const service = await startProcesses(sandbox.settings, {
    surfaces: [sandboxControl, ...sandbox.surfaces],
    dependencies,
  })
  return { ...service, stop: () => service.stop().then(sandbox.stop) }
}
