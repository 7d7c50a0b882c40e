import { chooseSkew, type Fault, nodeOf } from './fault.ts'

/** SIGTERM and a new process, as in a rolling restart. */
export const restartNode: Fault = {
  name: 'restart node',
  weight: 5,
  components: (context) => [nodeOf(context)],
  run: async ({ world, node, random }) => {
    await world.nodes[node].stop('SIGTERM')
    await world.startNode(node, chooseSkew(random))
  },
}
