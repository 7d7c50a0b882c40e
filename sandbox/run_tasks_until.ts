import type { SandboxHost } from '#domain/context/surface.ts'

const TRIES_MAX = 150
const PAUSE_MS = 25

/**
 * Runs the service's tasks until they have processed a change outside. A single run may miss it
 * because of a new block or another node's lease.
 */
export async function runTasksUntil<Seen>(
  host: SandboxHost,
  tasks: readonly string[],
  look: () => Promise<{ is_there: boolean; seen: Seen }>,
): Promise<Seen> {
  for (let tries = 1; ; tries += 1) {
    await host.runTasks(tasks)
    const { is_there, seen } = await look()
    if (is_there || tries >= TRIES_MAX) return seen
    await host.clock.sleep(PAUSE_MS)
  }
}
