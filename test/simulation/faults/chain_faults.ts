import type { Fault as NodeFault } from '#sandbox/tron_node/faults.ts'
import type { Random } from '#test/simulation/random.ts'
import { type Fault, pause } from './fault.ts'

/** Lags, lies and errors of a chain node, as the sandbox's node can produce them. */
const lies: readonly ((random: Random) => NodeFault)[] = [
  (random) => ({ kind: 'lagging_head', blocks: random.between(1, 30) }),
  () => ({ kind: 'lost_logs' }),
  () => ({ kind: 'garbage' }),
  () => ({ kind: 'throttled' }),
  () => ({ kind: 'status', status: 502 }),
  () => ({ kind: 'lost_answer' }),
  (random) => ({ kind: 'delay', delay_ms: random.between(100, 2_000) }),
]

/** The chain's node lags or contradicts itself for a while. */
export const chainLies: Fault = {
  name: 'chain node lies',
  weight: 7,
  components: () => [],
  run: async (context) => {
    const { random, world } = context
    const times = random.between(1, 12)
    await world.chain.fault({ ...random.pick(lies)(random), times })
    await pause(context, 500, 3_000)
    await world.chain.clearFaults()
  },
}

/** The newest blocks are replaced; their transfers return to the pool or are mined again. */
export const chainForks: Fault = {
  name: 'chain forks',
  weight: 5,
  components: () => [],
  run: async (context) => {
    const { random, world } = context
    await world.chain.forkOpenBlocks({
      depth: random.between(1, 15),
      keep: random.pick(['all', 'pool'] as const),
    })
    await pause(context, 200, 1_000)
    await world.chain.mine(2)
  },
}
