import { type LinkState, OPEN_LINK } from '#test/simulation/world/proxies.ts'
import { healLinks } from '#test/simulation/world/world.ts'
import { type Fault, type FaultContext, nodeOf, pause } from './fault.ts'

async function setLinks({ world, node }: FaultContext, state: Partial<LinkState>): Promise<void> {
  for (const port of world.links[node] ?? []) {
    await world.proxies.set(port, { ...OPEN_LINK, ...state })
  }
}

/** The connections of one node are reset, and new ones refused. */
export const cutDatabase: Fault = {
  name: 'cut database link',
  weight: 6,
  components: (context) => [nodeOf(context)],
  run: async (context) => {
    await setLinks(context, { mode: 'cut' })
    await pause(context, 50, 3_000)
    await healLinks(context.world, context.node)
  },
}

/**
 * The cable of one node is pulled: no packet, no reset. The server keeps the node's locks until it
 * notices, so the other node may have to wait for them.
 */
export const silenceDatabase: Fault = {
  name: 'silence database link',
  weight: 5,
  components: () => ['database'],
  run: async (context) => {
    await setLinks(context, { mode: 'silent' })
    await pause(context, 300, 12_000)
    await healLinks(context.world, context.node)
  },
}

/** Every packet is late; slow answers are no failures. */
export const slowDatabase: Fault = {
  name: 'slow database link',
  weight: 5,
  components: () => [],
  run: async (context) => {
    await setLinks(context, { delay_ms: context.random.between(2, 20) })
    await pause(context, 1_000, 4_000)
    await healLinks(context.world, context.node)
  },
}

/** Messages arrive in small pieces. */
export const splitWrites: Fault = {
  name: 'split writes',
  weight: 4,
  components: () => [],
  run: async (context) => {
    await setLinks(context, { chunk_bytes: context.random.between(100, 700) })
    await pause(context, 1_000, 3_000)
    await healLinks(context.world, context.node)
  },
}
