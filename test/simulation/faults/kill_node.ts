import { chooseSkew, type Fault, nodeOf, pause } from './fault.ts'

/** SIGKILL of a node; its replacement has another clock error. */
export const killNode: Fault = {
  name: 'kill node',
  weight: 10,
  components: (context) => [nodeOf(context)],
  run: async (context) => {
    const { world, node, random } = context
    await world.nodes[node].stop('SIGKILL')
    await pause(context, 0, 1_500)
    await world.startNode(node, chooseSkew(random))
  },
}
