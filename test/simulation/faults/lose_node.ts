import { OPEN_LINK } from '#test/simulation/world/proxies.ts'
import { healLinks } from '#test/simulation/world/world.ts'
import { chooseSkew, type Fault, pause } from './fault.ts'

/**
 * A node's machine loses power: the process is gone, and no packet tells the database. Its locks
 * and leases stay until the server gives up on the silent connections; the other node takes over.
 */
export const loseNode: Fault = {
  name: 'lose node',
  weight: 2,
  components: () => ['database'],
  run: async (context) => {
    const { world, node, random } = context
    for (const port of world.links[node] ?? []) {
      await world.proxies.set(port, { ...OPEN_LINK, mode: 'silent' })
    }
    await world.nodes[node].stop('SIGKILL')
    // Sometimes longer than deposits may wait, so a lease that outlives its node is noticed.
    if (random.chance(15)) await pause(context, 60_000, 60_000)
    else await pause(context, 8_000, 14_000)
    await healLinks(world, node)
    await world.startNode(node, chooseSkew(random))
  },
}
