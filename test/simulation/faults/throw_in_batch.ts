import { failpoints } from '#platform/runtime/failpoints.ts'
import { type Fault, nodeOf, pause } from './fault.ts'

const POINTS = failpoints.filter((name) => name.startsWith('batch_'))

/** An error of our own while a batch of card messages is built: nothing of it may be committed. */
export const throwInBatch: Fault = {
  name: 'throw in batch',
  weight: 5,
  components: (context) => [nodeOf(context)],
  run: async (context) => {
    const { world, node, random } = context
    await world.nodes[node].fail([random.pick(POINTS)], random.between(1, 30))
    await pause(context, 200, 1_000)
    await world.nodes[node].fail([], 0)
  },
}
